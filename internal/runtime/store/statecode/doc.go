// Package statecode encodes states of the gate as JSON and decodes them, part by part: the part of
// one session, the part that the sessions of a principal share, and the part that all sessions
// share. A part is one JSON object, and one row for each value of a key whose state differs from
// that of the net at large.
//
// Nets, places and transitions are identified by their names. Only nets that have moved are
// written, so the part of a new session is tiny. Unknown or damaged content is an error that names
// the part and the net; it is never guessed.
//
// A part that was written under another policy is decoded with a codec for the old nets (see
// Codec.oldCodec) and then converted by [gate.Policy.Adopt]: a net keeps its state if its name, its
// fingerprint and its shadow flag are unchanged.
//
// [Codec] encodes and decodes, [Change] and [Merge] handle parts that are written as changes,
// [ReadInfo] and [ReadOpen] decode a session without its policy. The package has no locks and no
// goroutines; a Codec is immutable once it is in use.
package statecode
