// A real Lua, with as much of it as Argo CD gives to a health script: the language, its basic functions and tables. The
// libraries that a script must do without are taken away.

import { LuaFactory } from 'wasmoon';

/** Health as Argo CD takes it from a script. */
export interface Health {
  status: string;
  message: string;
}

const withheld = ['string', 'math', 'io', 'os', 'debug', 'utf8', 'coroutine', 'package', 'require', 'load', 'dofile'];

/** Runs a script on objects, each in a state of its own. */
export async function healthBy(script: string): Promise<(object: object) => Promise<Health>> {
  const factory = new LuaFactory();
  return async (object) => {
    const lua = await factory.createEngine({ enableProxy: false, injectObjects: false });
    try {
      for (const name of withheld) lua.global.set(name, undefined);
      // Plain data, as it comes from the API server: what is undefined is not there.
      lua.global.set('obj', JSON.parse(JSON.stringify(object)) as object);
      return (await lua.doString(script)) as Health;
    } finally {
      lua.global.close();
    }
  };
}
