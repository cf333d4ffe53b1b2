// Package statecode encodes and decodes the gate's states as JSON, in parts: the part of a session,
// the part that a principal's sessions share, and the part that all sessions share. A part is a
// JSON object. If a net has a key, the part also contains a row for each value of the key that has
// a state of its own.
//
// Nets, places and transitions are identified by name. Nets in their initial states are not written,
// so a new session's part is tiny. A Codec rejects unknown or damaged content with an error that
// names the part and, if possible, the net; it never guesses.
//
// A part that was written under another policy is decoded with a codec for the old nets (see
// Codec.oldCodec) and then converted by [gate.Policy.Adopt], which determines the nets that keep
// their state.
//
// [Codec] encodes and decodes, [Change] and [Merge] handle parts that are written as changes,
// [ReadOpen] decodes a session without its policy. The package has no locks and no
// goroutines; a Codec is immutable once it is in use.
package statecode
