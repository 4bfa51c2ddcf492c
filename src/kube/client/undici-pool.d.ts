// The one file of undici that we run. Its front door also loads fetch, caches and web sockets: 13 MB of memory in every
// operator for things that nobody here uses.

declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
