package trail

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// VerifySource calls [Verify] or [VerifyChains], depending on the type of the log.
func VerifySource(ctx context.Context, s Source) (Report, error) {
	switch s := s.(type) {
	case File:
		return Verify(ctx, s)
	case Database:
		return VerifyChains(ctx, s)
	default:
		return Report{}, fmt.Errorf("a log of type %T cannot be verified", s)
	}
}

// Verify verifies the chain of a log file, including the files left by earlier rotations. Faults
// are listed in the report; an error means that the log could not be read.
func Verify(ctx context.Context, f File) (Report, error) {
	r := Report{Chains: 1, Faults: []Fault{}, Warnings: []string{}}
	pending, err := audit.Pending(string(f))
	if err != nil {
		return r, err
	}
	paths, err := f.paths()
	if err != nil {
		return r, err
	}
	head := f.head(&r)
	v := &verifier{report: &r, head: head, workers: runtime.GOMAXPROCS(0)}
	for _, path := range paths {
		r.Files = append(r.Files, path)
		if err := v.verifyFile(ctx, path); err != nil || !r.OK() {
			return r, err
		}
	}
	v.compareEnd(string(f))
	if rest := linesAfter(pending, v.last.Seq); len(rest) > 0 && r.OK() {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s still in %s: this is normal while a proxy writes the log, and after a crash until a proxy opens the log", recordsAre(uint64(bytes.Count(rest, []byte{'\n'}))), string(f)+audit.PendingSuffix))
		return r, v.verifyLines(ctx, bytes.NewReader(rest), len(rest)+1, string(f)+audit.PendingSuffix)
	}
	return r, nil
}

// linesAfter returns the lines that follow the record with the given number.
func linesAfter(lines []byte, seq uint64) []byte {
	for rest := lines; len(rest) > 0; {
		line, behind := cutLine(rest)
		l, err := audit.ParseLine(line)
		if err != nil || l.Seq > seq {
			return rest
		}
		rest = behind
	}
	return nil
}

// head returns the position of the log's last record according to the head file, which shows
// whether records are missing at the end. If the position cannot be determined, head returns the
// zero Place. It adds any problem to the report.
func (f File) head(r *Report) audit.Place {
	name := string(f) + audit.HeadSuffix
	content, err := audit.ReadHead(string(f))
	if errors.Is(err, os.ErrNotExist) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("cannot tell whether the latest records were removed: %s does not exist", name))
		r.Headless = true
		return audit.Place{}
	}
	place, ok := audit.ParseHead(content)
	switch {
	case err != nil:
		r.Warnings = append(r.Warnings, "reading the head: "+err.Error())
		r.Headless = true
	case audit.UnwrittenHead(content):
		r.Warnings = append(r.Warnings, fmt.Sprintf("cannot tell whether the latest records were removed: %s is empty", name))
		r.Headless = !f.empty()
	case !ok:
		r.Faults = append(r.Faults, Fault{File: name, What: "it is not the head of an audit log: it was changed"})
	}
	return place
}

// empty reports whether the log has no records yet.
func (f File) empty() bool {
	paths, err := f.paths()
	if err != nil || len(paths) > 1 {
		return false
	}
	info, err := os.Stat(paths[0])
	return err == nil && info.Size() == 0
}

// A verifier verifies a chain that can span several files.
type verifier struct {
	report  *Report
	workers int
	head    audit.Place

	last   audit.Place // position of the last record read
	began  bool        // whether a record has been read
	linked bool        // whether a record with a hash has been read
}

// verifyFile verifies one of the chain's files.
func (v *verifier) verifyFile(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return v.verifyLines(ctx, file, blockSize(file), path)
}

// verifyLines verifies the lines of r, in blocks of about the given size in bytes.
func (v *verifier) verifyLines(ctx context.Context, r io.Reader, size int, path string) error {
	done := &verifyQueue{workers: v.workers}
	defer done.drain()
	number, partial := 0, false
	for block, err := range blocks(r, size) {
		if e := ctx.Err(); e != nil {
			return e
		}
		if len(block) > 0 && v.begin(done, block) && !v.collect(done, path, &number) {
			return nil
		}
		if partial = errors.Is(err, errPartial); err != nil && !partial {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for done.pending() {
		if !v.collect(done, path, &number) {
			return nil
		}
	}
	if partial {
		v.fault(Fault{File: path, Line: number + 1, Seq: v.last.Seq + 1, What: "the line is incomplete: a crash or a person has truncated it"})
	}
	return nil
}

// begin starts verifying the next block in the background and moves the verifier's position to the
// end of the block. It returns true if the caller must collect a result before it can begin another
// block.
func (v *verifier) begin(q *verifyQueue, block []byte) bool {
	job := make(chan blockResult, 1)
	q.jobs = append(q.jobs, job)
	own := q.copy(block)
	before, fault := v.last, ""
	if !v.began {
		first, _ := cutLine(own)
		before, fault = startOf(first)
		v.began = true
		if fault == "" && before.Seq > 0 {
			v.report.Warnings = append(v.report.Warnings, fmt.Sprintf("the log begins with record %d: the files with earlier records were removed", before.Seq+1))
		}
	}
	linked := v.linked
	v.follow(own)
	if fault != "" {
		job <- blockResult{seq: before.Seq + 1, what: fault, block: own}
	} else {
		go func() { job <- check(own, before, linked, v.head) }()
	}
	return len(q.jobs) > q.workers
}

// follow moves the verifier's position to the last line of the block.
func (v *verifier) follow(block []byte) {
	text := block[:len(block)-1]
	l, err := audit.ParseLine(text[bytes.LastIndexByte(text, '\n')+1:])
	if err == nil {
		v.last = audit.Place{Seq: l.Seq, Hash: l.Hash}
		v.linked = v.linked || l.Linked
	}
}

// blockSize returns the size of the blocks to split a file into.
func blockSize(file *os.File) int {
	const largest = 2 << 20
	if info, err := file.Stat(); err == nil {
		return int(min(info.Size()+1, largest))
	}
	return largest
}

// collect adds the result for the oldest block to the report, and reports whether the chain is
// valid so far.
func (v *verifier) collect(done *verifyQueue, path string, number *int) bool {
	b := done.next()
	v.report.Records += uint64(b.sound)
	if b.what != "" {
		v.fault(Fault{File: path, Line: *number + b.sound + 1, Seq: b.seq, What: b.what})
		return false
	}
	*number += b.sound
	return true
}

func (v *verifier) fault(f Fault) { v.report.Faults = append(v.report.Faults, f) }

// compareEnd compares the last record read with the record named in the log's head file, and adds
// any difference to the report.
func (v *verifier) compareEnd(path string) {
	h := v.head
	switch {
	case h.Seq == 0:
	case h.Seq > v.last.Seq:
		v.fault(Fault{File: path, Seq: v.last.Seq + 1, What: fmt.Sprintf("%s missing at the end according to the head: records %d to %d", recordsAre(h.Seq-v.last.Seq), v.last.Seq+1, h.Seq)})
	case h.Seq == v.last.Seq && h.Hash != v.last.Hash:
		v.fault(Fault{File: path, Seq: h.Seq, What: "the last record differs from the one that the head names"})
	case h.Seq < v.last.Seq:
		v.report.Warnings = append(v.report.Warnings, fmt.Sprintf("the head names record %d, but the log has records up to %d: this is normal while a proxy writes the log, and after a crash", h.Seq, v.last.Seq))
	}
}

// startOf returns the position before the first line of a log. The number of this line can be above
// 1, because old files may have been removed. If the line is valid but a log cannot begin with it,
// startOf also returns an explanation.
func startOf(line []byte) (before audit.Place, fault string) {
	l, err := audit.ParseLine(line)
	if err != nil || l.Seq == 1 || !l.Linked {
		before.Seq = max(l.Seq, 1) - 1
		if err == nil && l.Seq > 1 {
			fault = missingBefore(l.Seq)
		}
		return before, fault
	}
	var e struct{ Event, Last string }
	if json.Unmarshal(l.Event, &e) != nil || e.Event != "continued" || hex.DecodedLen(len(e.Last)) != len(before.Hash) {
		return before, missingBefore(l.Seq)
	}
	before.Seq = l.Seq - 1
	if _, err := hex.Decode(before.Hash[:], []byte(e.Last)); err != nil {
		return before, missingBefore(l.Seq)
	}
	return before, ""
}

func missingBefore(seq uint64) string {
	return fmt.Sprintf("the log begins with record %d: earlier records are missing", seq)
}
