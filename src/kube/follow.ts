// What a stream of watch events means, apart from where it comes from: a fresh view builds up beside the old one until
// it is whole; after that events change the view in the order of their resourceVersions, and what is old is refused.

import { ApiError } from './client/index.ts';
import type { Entry, WatchEvent } from './parse.ts';
import { compareVersions } from './version.ts';

/** Where the events go: the part of the cache that one watch fills. */
export interface Feed {
  /** The entry that is held now, so that an unchanged object is not kept twice while a fresh view builds up. */
  held(entry: Entry): Entry;
  /** A whole, consistent view that began to be read at `began` (monotonic) replaces what was known. */
  replace(entries: Map<string, Entry>, resourceVersion: string, began: number): void;
  changed(event: ObjectEvent): void;
  /** The watch has passed this resourceVersion. */
  passed(resourceVersion: string): void;
}

export type ObjectEvent = Extract<WatchEvent, { entry: Entry }>;

/** Follows one stream. Without a resourceVersion to start from, a whole view comes first. */
export class Follower {
  private readonly feed: Feed;
  private readonly began: number;
  private fresh: Map<string, Entry> | undefined;
  private position: string | undefined;

  constructor(feed: Feed, began: number, from: string | undefined) {
    this.feed = feed;
    this.began = began;
    this.position = from;
    if (from === undefined) this.fresh = new Map();
  }

  /** Whether the view that was asked for is whole. */
  get whole(): boolean {
    return this.fresh === undefined;
  }

  /** The resourceVersion up to which all is known. */
  get resourceVersion(): string | undefined {
    return this.whole ? this.position : undefined;
  }

  /** Takes one event in; an ERROR event is thrown as what the server said. */
  take(event: WatchEvent): void {
    switch (event.type) {
      case 'ERROR':
        throw new ApiError({ ...event, status: event.code, verb: 'watch', path: '' });
      case 'BOOKMARK':
        return this.bookmark(event.resourceVersion, event.endsInitial);
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        return this.fresh ? this.initial(event, this.fresh) : this.change(event);
    }
  }

  /** Adds an object of a list to the view that builds up. */
  collect(entry: Entry): void {
    this.fresh?.set(keyOf(entry), this.feed.held(entry));
  }

  /** The view is whole. */
  complete(resourceVersion: string): void {
    const entries = this.fresh ?? new Map<string, Entry>();
    this.fresh = undefined;
    this.position = resourceVersion;
    this.feed.replace(entries, resourceVersion, this.began);
  }

  private initial({ type, entry }: ObjectEvent, entries: Map<string, Entry>): void {
    if (type === 'DELETED') entries.delete(keyOf(entry));
    else this.collect(entry);
  }

  /** Events of one resource come in the order of their resourceVersions; what comes late is old, or a repetition. */
  private change(event: ObjectEvent): void {
    const version = event.entry.object.metadata.resourceVersion ?? '';
    if (compareVersions(version, this.position ?? '') <= 0) return;
    this.position = version;
    this.feed.changed(event);
  }

  private bookmark(resourceVersion: string, endsInitial: boolean): void {
    if (this.fresh) return endsInitial ? this.complete(resourceVersion) : undefined;
    if (compareVersions(resourceVersion, this.position ?? '') < 0) return;
    this.position = resourceVersion;
    this.feed.passed(resourceVersion);
  }
}

/** How the cache names an object: `namespace/name`, with an empty namespace for cluster-wide ones. */
export const keyOf = ({ object: { metadata } }: Entry): string => `${metadata.namespace ?? ''}/${metadata.name}`;
