// Why a model cannot be served at all. Its words are the last line of the program, which a kubelet keeps and the operator shows.

export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
}
