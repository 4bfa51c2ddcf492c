// Names of images, as people write them into our objects.

import * as z from 'zod';
import { withRules } from '../schema/index.ts';

const part = '[a-z0-9]+([._-]+[a-z0-9]+)*';
const repository = `([A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?/)?${part}(/${part})*`;
const digest = '@sha256:[0-9a-f]{64}';

const named = (pattern: string, message: string) =>
  withRules(z.string().min(1).max(512), { rule: `self.matches('^${pattern}$')`, message });

/** The name of an image. */
export const imageName = (message: string) =>
  named(`${repository}(:[A-Za-z0-9_][A-Za-z0-9._-]*)?(${digest})?`, message);

/** The same, with a tag or a digest; the tag may have the version of a kernel in it, for whoever pulls it. */
export const kernelImageName = (message: string) =>
  named(`${repository}(:([A-Za-z0-9_.-]|[$][{]KERNEL_(FULL_)?VERSION[}])+(${digest})?|${digest})`, message);
