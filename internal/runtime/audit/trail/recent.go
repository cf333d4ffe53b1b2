package trail

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/audit"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Recent returns the newest records of a log, oldest first: at most n records, with at most the
// given total size in bytes. It reads little more than these records, even if the log is long.
// Invalid records are skipped; they are reported by "petrigate audit verify".
func Recent(ctx context.Context, s Source, n, most int) ([]Record, error) {
	last := &newestRecords{n: n, most: most}
	var err error
	switch s := s.(type) {
	case File:
		err = s.collectRecent(ctx, last)
	case Database:
		err = s.collectRecent(ctx, last)
	}
	return last.records, err
}

// newestRecords keeps the newest records that are added to it, up to a maximum number and total
// size.
type newestRecords struct {
	n, most int
	bytes   int
	records []Record // the kept records, oldest first
}

func (l *newestRecords) add(r Record) {
	l.records = append(l.records, r)
	l.bytes += len(r.Event)
	for len(l.records) > l.n || l.bytes > l.most {
		l.bytes -= len(l.records[0].Event)
		l.records = l.records[1:]
	}
}

// collectRecent reads the files, newest first, from their ends until it has enough records.
func (f File) collectRecent(ctx context.Context, last *newestRecords) error {
	pending, err := audit.Pending(string(f))
	if err != nil {
		return err
	}
	paths, err := f.paths()
	if err != nil {
		return err
	}
	var files [][]Record // records in each file, newest file first
	count, left := 0, last.most
	for _, path := range slices.Backward(paths) {
		if err := ctx.Err(); err != nil {
			return err
		}
		records, size, err := tailRecords(path, left)
		if err != nil {
			return err
		}
		files = append(files, records)
		if count, left = count+len(records), left-size; count >= last.n || left <= 0 {
			break
		}
	}
	var seq uint64
	for _, records := range slices.Backward(files) {
		for _, r := range records {
			seq = r.Seq
			last.add(r)
		}
	}
	for _, r := range recordsOf(pending, string(f)+audit.PendingSuffix) {
		if r.Seq > seq {
			last.add(r)
		}
	}
	return nil
}

// tailRecords returns the records in the given number of bytes at the end of a file, and the number
// of bytes read.
func tailRecords(path string, most int) ([]Record, int, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	start := max(info.Size()-int64(most), 0)
	content, err := io.ReadAll(io.NewSectionReader(file, start, info.Size()-start))
	if err != nil {
		return nil, 0, err
	}
	size := len(content)
	if start > 0 { // skip the incomplete first line
		content = content[bytes.IndexByte(content, '\n')+1:]
	}
	return recordsOf(content, path), size, nil
}

// recordsOf returns the records in the complete lines of content.
func recordsOf(content []byte, path string) (records []Record) {
	for len(content) > 0 {
		end := bytes.IndexByte(content, '\n')
		if end < 0 {
			break // the line is still being written
		}
		if l, err := audit.ParseLine(content[:end]); err == nil {
			records = append(records, Record{Seq: l.Seq, Event: l.Event, Hash: l.Hash, File: path})
		}
		content = content[end+1:]
	}
	return records
}

// collectRecent reads the records of a short period at the end of the log, and then of longer and
// longer periods. It stops when it has enough records, when their total size is more than half of
// the limit, or when it has read all records.
func (d Database) collectRecent(ctx context.Context, last *newestRecords) error {
	heads, err := d.Backend.Heads(ctx)
	if err != nil {
		return err
	}
	var total uint64
	var end time.Time
	for _, h := range heads {
		total += h.Seq
		if h.Time.After(end) {
			end = h.Time
		}
	}
	const year = 365 * 24 * time.Hour
	for window := time.Second; ; window *= 4 {
		var q backend.Query
		if total > uint64(last.n) && window < year {
			q.Since = end.Add(-window)
		}
		last.records, last.bytes = nil, 0
		full := false
		for r, err := range d.records(ctx, q) {
			if err != nil {
				return err
			}
			last.add(r)
			full = full || len(last.records) == last.n
		}
		if full || q.Since.IsZero() || last.bytes > last.most/2 {
			return nil
		}
	}
}
