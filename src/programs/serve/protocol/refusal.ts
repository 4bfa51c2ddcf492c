// A request that is not taken, with the words that tell its sender what to change. An expected outcome, so a value.

export class Refusal {
  readonly status: number;
  readonly words: string;

  constructor(words: string, status = 400) {
    this.status = status;
    this.words = words;
  }
}
