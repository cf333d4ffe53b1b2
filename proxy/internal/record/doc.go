// Package record is what a proxy puts on record, one JSON object each: every
// decision, how each admitted call ended, and what operators did.
//
// A record that cannot be stored is doubt, and doubt is denial: the caller of
// [Recorder.Write] does not do what it could not record, and [Recorder.Ready]
// says beforehand that it would be in vain. Where records are missing, the first
// one behind the gap says so. Arguments are on record by their hash only.
package record
