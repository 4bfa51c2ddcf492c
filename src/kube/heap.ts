// A binary heap whose items know their place, so that one of them can be moved or taken out without a search.
// The lowest rank comes first, and among equals the one that was put in first.

/** What an item carries for the heap; an item is in one heap at a time. */
export interface Ranked {
  rank: number;
  order: number;
  /** Where it is in its heap; -1 outside. */
  place: number;
}

export class Heap<T extends Ranked> {
  readonly #items: T[] = [];
  #order = 0;

  get size(): number {
    return this.#items.length;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  values(): Iterable<T> {
    return this.#items;
  }

  /** Puts the item in behind all others of its rank. */
  put(item: T, rank: number): void {
    item.rank = rank;
    item.order = this.#order++;
    this.#rise(item, this.#items.push(item) - 1);
  }

  /** Takes the item out, wherever it is. */
  remove(item: T): void {
    const gap = item.place;
    const last = this.#items.pop();
    item.place = -1;
    if (last === undefined || last === item) return;
    this.#rise(last, gap);
    this.#sink(last, last.place);
  }

  clear(): void {
    for (const item of this.#items) item.place = -1;
    this.#items.length = 0;
  }

  #rise(item: T, from: number): void {
    let at = from;
    while (at > 0) {
      const parent = this.#items[(at - 1) >> 1] as T;
      if (!before(item, parent)) break;
      this.#set(parent, at);
      at = (at - 1) >> 1;
    }
    this.#set(item, at);
  }

  #sink(item: T, from: number): void {
    let at = from;
    for (let child = this.#lesserChild(at); child && before(child, item); child = this.#lesserChild(at)) {
      const below = child.place;
      this.#set(child, at);
      at = below;
    }
    this.#set(item, at);
  }

  #lesserChild(at: number): T | undefined {
    const left = this.#items[2 * at + 1];
    const right = this.#items[2 * at + 2];
    return left && right && before(right, left) ? right : left;
  }

  #set(item: T, at: number): void {
    this.#items[at] = item;
    item.place = at;
  }
}

const before = (a: Ranked, b: Ranked): boolean => a.rank < b.rank || (a.rank === b.rank && a.order < b.order);
