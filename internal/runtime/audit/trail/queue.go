package trail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A verifyQueue verifies blocks of lines in parallel and returns the results in order.
type verifyQueue struct {
	workers int
	jobs    []chan blockResult
	spare   [][]byte
}

// A blockResult is the result of verifying a block.
type blockResult struct {
	sound int // number of valid lines before the first invalid one
	seq   uint64
	what  string // fault of that line; empty: none
	block []byte
}

func newQueue(workers int) *verifyQueue { return &verifyQueue{workers: workers} }

// add starts to verify a copy of a block whose lines follow the verifier's last record, and
// advances the verifier to the end of the block. It reports whether a result must be collected
// before the next block is added.
func (q *verifyQueue) add(v *verifier, block []byte) bool {
	job := make(chan blockResult, 1)
	q.jobs = append(q.jobs, job)
	own := q.copy(block)
	before, fault := v.last, ""
	if !v.began {
		first, _ := cutLine(own)
		before, fault = startOf(first)
		v.began = true
		if fault == "" && before.Seq > 0 {
			v.report.Warnings = append(v.report.Warnings, fmt.Sprintf("the log begins with record %d: files with those before it were removed", before.Seq+1))
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

func (q *verifyQueue) copy(block []byte) []byte {
	var room []byte
	if n := len(q.spare); n > 0 {
		room, q.spare = q.spare[n-1], q.spare[:n-1]
	}
	return append(room[:0], block...)
}

// follow advances the verifier to the last line of a block.
func (v *verifier) follow(block []byte) {
	text := block[:len(block)-1]
	l, err := audit.ParseLine(text[bytes.LastIndexByte(text, '\n')+1:])
	if err == nil {
		v.last = audit.Place{Seq: l.Seq, Hash: l.Hash}
		v.linked = v.linked || l.Linked
	}
}

func (q *verifyQueue) pending() bool { return len(q.jobs) > 0 }

func (q *verifyQueue) next() blockResult {
	r := <-q.jobs[0]
	q.jobs = q.jobs[1:]
	q.spare = append(q.spare, r.block)
	return r
}

// drain waits for all blocks being verified.
func (q *verifyQueue) drain() {
	for q.pending() {
		q.next()
	}
}

// check verifies the lines of a block that follow the record before. Lines of earlier versions have
// no hash; they may occur only before the first line with a hash, which need not be linked to them.
func check(block []byte, before audit.Place, linked bool, head audit.Place) (r blockResult) {
	r.block = block
	buf := make([]byte, 0, 1<<10)
	for len(block) > 0 {
		var line []byte
		line, block = cutLine(block)
		var at audit.Place
		var ok bool
		at, buf, ok = link(line, before, buf)
		if !ok && !linked {
			at, ok = unlinked(line, before)
		} else {
			linked = true
		}
		if ok && at.Seq == head.Seq && at.Hash != head.Hash {
			r.seq, r.what = at.Seq, "it is not the record that the head knows"
			return r
		}
		if !ok {
			r.seq, r.what = before.Seq+1, describeFault(line, before)
			return r
		}
		before = at
		r.sound++
	}
	return r
}

// unlinked returns the position of a line without a hash, and whether it follows the position
// before.
func unlinked(line []byte, before audit.Place) (audit.Place, bool) {
	l, err := audit.ParseLine(line)
	return audit.Place{Seq: l.Seq}, err == nil && !l.Linked && l.Seq == before.Seq+1
}

// Parts of a line, see [audit.Line].
const (
	lineHead = `{"seq":`
	lineHash = `,"hash":"`
	lineTail = `"}`
	lineEnd  = len(lineHash) + 2*sha256.Size + len(lineTail)
)

// link returns the position of a line, and whether it follows the position before: it must have the
// next number, and the hash of its event and of before. buf is reused.
func link(line []byte, before audit.Place, buf []byte) (audit.Place, []byte, bool) {
	at := audit.Place{Seq: before.Seq + 1}
	buf = append(buf[:0], before.Hash[:]...)
	buf = strconv.AppendUint(buf, at.Seq, 10)
	number := buf[sha256.Size:]
	start := len(lineHead) + len(number)
	end := len(line) - lineEnd
	if end < start || string(line[:len(lineHead)]) != lineHead || !bytes.Equal(line[len(lineHead):start], number) ||
		string(line[end:end+len(lineHash)]) != lineHash || string(line[len(line)-len(lineTail):]) != lineTail {
		return at, buf, false
	}
	members := line[start:end]
	if len(members) > 0 {
		if members[0] != ',' {
			return at, buf, false
		}
		members = members[1:]
	}
	buf = append(buf, '{')
	buf = append(buf, members...)
	buf = append(buf, '}')
	at.Hash = sha256.Sum256(buf)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], at.Hash[:])
	return at, buf, bytes.Equal(text[:], line[end+len(lineHash):len(line)-len(lineTail)])
}
