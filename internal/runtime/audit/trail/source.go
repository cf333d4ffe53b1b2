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

// A Source is a log that can be read repeatedly.
type Source interface {
	// Records yields the records in order. It may leave out records that f does not select. A nil f
	// selects all records.
	Records(ctx context.Context, f *Filter) iter.Seq2[Record, error]
}

// A File is the path of a log file. The log includes the files left by earlier rotations.
type File string

// Records implements [Source]. It ends with an error at the first invalid line.
func (f File) Records(ctx context.Context, _ *Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		pending, err := audit.Pending(string(f))
		var paths []string
		if err == nil {
			paths, err = f.paths()
		}
		if err != nil {
			yield(Record{}, err)
			return
		}
		var last uint64
		for _, path := range paths {
			for r, err := range recordsOfFile(ctx, path) {
				if last = r.Seq; !yield(r, err) || err != nil {
					return
				}
			}
		}
		for r, err := range parse(ctx, bytes.NewReader(pending), string(f)+audit.PendingSuffix) {
			if (err != nil || r.Seq > last) && !yield(r, err) { // skip records that have already been read from the files
				return
			}
		}
	}
}

// paths returns the paths of all files of the log, oldest first.
func (f File) paths() ([]string, error) {
	if _, err := os.Stat(string(f)); err != nil {
		return nil, err
	}
	aside, err := audit.RotatedFiles(string(f))
	return append(aside, string(f)), err
}

// recordsOfFile yields the records of one file.
func recordsOfFile(ctx context.Context, path string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			yield(Record{}, err)
			return
		}
		defer func() { _ = file.Close() }()
		parse(ctx, file, path)(yield)
	}
}

// parse yields the records in r. It uses the path in error messages and in [Record].File.
func parse(ctx context.Context, r io.Reader, path string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		number := 0
		for line, err := range lines(r) {
			number++
			if err == nil {
				err = ctx.Err()
			}
			if errors.Is(err, errPartial) {
				return // the line is still being written, or "petrigate audit verify" reports it
			}
			var l audit.Line
			if err == nil {
				l, err = audit.ParseLine(line)
			}
			if err != nil {
				yield(Record{}, fmt.Errorf("%s:%d: %w", path, number, err))
				return
			}
			if !yield(Record{Seq: l.Seq, Event: l.Event, Hash: l.Hash, File: path, Line: number}, nil) {
				return
			}
		}
	}
}

// lines yields the lines of r without their newlines. A line is valid only until the next one is
// yielded.
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

// A Database is a log in a database. It contains the records of all writers, in commit order.
type Database struct{ Backend backend.Backend }

// Records implements [Source].
func (d Database) Records(ctx context.Context, f *Filter) iter.Seq2[Record, error] {
	var q backend.Query
	if f != nil {
		q.Session = f.Session
		if !f.Since.IsZero() {
			q.Since = f.Since.Add(-time.Minute) // the clock might have been set back between an event and its commit
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
