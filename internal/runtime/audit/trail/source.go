package trail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A Record is one record of a log.
type Record struct {
	Writer string // of a database: whose chain it is on
	Seq    uint64
	Event  []byte // one JSON object without number and hash
	Hash   [32]byte
	File   string // of a file
	Line   int    // in the file, from 1
}

// Entry decodes the event of the record. An error says what is wrong with its JSON.
func (r *Record) Entry() (Entry, error) { return audit.ReadEntry(r.Event) }

// A Source is a log. It can be read several times.
type Source interface {
	// Records reads the records in their order: those that f selects, and perhaps others;
	// all where it is nil.
	Records(ctx context.Context, f *Filter) iter.Seq2[Record, error]
}

// A File is a log in a file, with those that were put aside before it.
type File string

// Records implements [Source]. A line that is no record ends it with an error.
func (f File) Records(ctx context.Context, _ *Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		pending, err := audit.Pending(string(f))
		var paths []string
		if err == nil {
			paths, err = f.paths()
		}
		var last uint64
		more := err == nil
		for _, path := range paths {
			if more = more && each(ctx, path, &err, func(r Record, err error) bool {
				last = r.Seq
				return yield(r, err)
			}); !more {
				break
			}
		}
		if more {
			parse(ctx, bytes.NewReader(pending), string(f)+audit.PendingSuffix, &err, func(r Record, err error) bool {
				return r.Seq <= last || yield(r, err) // the log has it
			})
		}
		if err != nil {
			yield(Record{}, err)
		}
	}
}

// paths are the files of the log, the oldest first.
func (f File) paths() ([]string, error) {
	if _, err := os.Stat(string(f)); err != nil {
		return nil, err
	}
	aside, err := audit.Aside(string(f))
	return append(aside, string(f)), err
}

// each yields the records of one file. It reports false where the reader has enough.
func each(ctx context.Context, path string, failed *error, yield func(Record, error) bool) bool {
	file, err := os.Open(path)
	if err != nil {
		*failed = err
		return false
	}
	defer func() { _ = file.Close() }()
	return parse(ctx, file, path, failed, yield)
}

// parse is each of what is read from r.
func parse(ctx context.Context, r io.Reader, path string, failed *error, yield func(Record, error) bool) bool {
	number := 0
	for line, err := range lines(r) {
		number++
		if err == nil {
			err = ctx.Err()
		}
		if errors.Is(err, errHalf) {
			return true // it is being written, or verify tells
		}
		var l audit.Line
		if err == nil {
			l, err = audit.ParseLine(line)
		}
		if err != nil {
			*failed = fmt.Errorf("%s:%d: %w", path, number, err)
			return false
		}
		if !yield(Record{Seq: l.Seq, Event: l.Event, Hash: l.Hash, File: path, Line: number}, nil) {
			return false
		}
	}
	return true
}

var (
	errHalf = errors.New("it has no line end")
	errLong = errors.New("it is too long for an audit record")
)

// maxLine is more than any line has.
const maxLine = 5 << 20

// lines yields the lines of a reader without their ends. They are good until the next one.
func lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for block, err := range blocks(r, 256<<10) {
			for len(block) > 0 {
				line, rest := cutLine(block)
				if !yield(line, nil) {
					return
				}
				block = rest
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// A Database is a log in a database: that of all its writers, in the order of commits.
type Database struct{ Backend backend.Backend }

// Records implements [Source].
func (d Database) Records(ctx context.Context, f *Filter) iter.Seq2[Record, error] {
	var q backend.Query
	if f != nil {
		q.Session = f.Session
		if !f.Since.IsZero() {
			q.Since = f.Since.Add(-time.Minute) // a clock may be set back between an event and its commit
		}
	}
	return d.records(ctx, q)
}

func (d Database) records(ctx context.Context, q backend.Query) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for r, err := range d.Backend.Records(ctx, q) {
			if !yield(Record{Writer: r.Writer, Seq: r.Seq, Event: r.Object, Hash: r.Hash}, err) || err != nil {
				return
			}
		}
	}
}
