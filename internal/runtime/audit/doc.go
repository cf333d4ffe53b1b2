// Package audit records every decision, how each admitted call ended, and what
// operators did, one JSON object each.
//
// A [Recorder] writes events to a [Storage]; a [Log] is one: a file of JSON lines
// that is only ever appended to. A record that cannot be stored denies: the caller
// of [Recorder.Write] does not do what it could not record, and [Recorder.Ready]
// reports beforehand that it would fail. The first record after a gap says that
// records are missing. Arguments are recorded by their hash only.
package audit
