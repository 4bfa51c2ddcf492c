// Names of images, as people write them into our objects.

import * as z from 'zod';
import { withRules } from '../schema/index.ts';

const label = '[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?';
/** What has neither a dot nor a port is no host, but the first part of a repository, which has no upper case. */
const host = `${label}([.]${label})*:[0-9]+|${label}([.]${label})+`;
const part = '[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*';
const repository = `((${host})/)?${part}(/${part})*`;
const [tagBegins, tagGoesOn] = ['[A-Za-z0-9_]', '[A-Za-z0-9._-]'];
const kernel = '[$][{]KERNEL_(FULL_)?VERSION[}]';
const digest = '@sha256:[0-9a-f]{64}';

const named = (pattern: string, message: string) =>
  withRules(z.string().min(1).max(512), { rule: `self.matches('^${pattern}$')`, message });

/** The name of an image. */
export const imageName = (message: string) =>
  named(`${repository}(:${tagBegins}${tagGoesOn}{0,127})?(${digest})?`, message);

/** The same, with a tag or a digest; the tag may have the version of a kernel in it, for whoever pulls it. */
export const kernelImageName = (message: string) =>
  named(`${repository}(:(${tagBegins}|${kernel})(${tagGoesOn}|${kernel}){0,127}(${digest})?|${digest})`, message);
