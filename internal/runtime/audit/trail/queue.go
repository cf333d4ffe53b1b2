package trail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A queue verifies blocks of lines at once, and hands out what came of them in order.
type queue struct {
	workers int
	jobs    []chan result
	spare   [][]byte
}

// result is what came of a block.
type result struct {
	sound int // lines before the first that is not
	seq   uint64
	what  string // is wrong with that; empty: nothing
	block []byte
}

func newQueue(workers int) *queue { return &queue{workers: workers} }

// add begins to verify a block, of which it keeps a copy: the lines follow the last record of
// the verifier, which it moves to that of the block. It reports whether a result is to be
// collected before the next is added.
func (q *queue) add(v *verifier, block []byte) bool {
	job := make(chan result, 1)
	q.jobs = append(q.jobs, job)
	own := q.copy(block)
	before, fault := v.last, ""
	if !v.began {
		first, _ := cutLine(own)
		before, fault = begin(first)
		v.began = true
		if fault == "" && before.Seq > 0 {
			v.report.Warnings = append(v.report.Warnings, fmt.Sprintf("the log begins with record %d: files with those before it were removed", before.Seq+1))
		}
	}
	linked := v.linked
	v.follow(own)
	if fault != "" {
		job <- result{seq: before.Seq + 1, what: fault, block: own}
	} else {
		go func() { job <- check(own, before, linked, v.head) }()
	}
	return len(q.jobs) > q.workers
}

func (q *queue) copy(block []byte) []byte {
	var room []byte
	if n := len(q.spare); n > 0 {
		room, q.spare = q.spare[n-1], q.spare[:n-1]
	}
	return append(room[:0], block...)
}

// follow moves the verifier to the last line of a block.
func (v *verifier) follow(block []byte) {
	text := block[:len(block)-1]
	l, err := audit.ParseLine(text[bytes.LastIndexByte(text, '\n')+1:])
	if err == nil {
		v.last = audit.Place{Seq: l.Seq, Hash: l.Hash}
		v.linked = v.linked || l.Linked
	}
}

func (q *queue) waits() bool { return len(q.jobs) > 0 }

func (q *queue) next() result {
	r := <-q.jobs[0]
	q.jobs = q.jobs[1:]
	q.spare = append(q.spare, r.block)
	return r
}

// drain waits for what is under way.
func (q *queue) drain() {
	for q.waits() {
		q.next()
	}
}

// check verifies the lines of a block that follow a record. Lines of earlier versions, which
// have no hash, may only be before the first that has one, and none has to be linked to them.
func check(block []byte, before audit.Place, linked bool, head audit.Place) (r result) {
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
			r.seq, r.what = before.Seq+1, explain(line, before)
			return r
		}
		before = at
		r.sound++
	}
	return r
}

// unlinked is the place of a line without a hash that follows a place.
func unlinked(line []byte, before audit.Place) (audit.Place, bool) {
	l, err := audit.ParseLine(line)
	return audit.Place{Seq: l.Seq}, err == nil && !l.Linked && l.Seq == before.Seq+1
}

// The parts of a line, see [audit.Line].
const (
	lineHead = `{"seq":`
	lineHash = `,"hash":"`
	lineTail = `"}`
	lineEnd  = len(lineHash) + 2*sha256.Size + len(lineTail)
)

// link returns the place of a line that follows a place, and whether it does: it has the next
// number, and the hash of its event and of the place. buf is room.
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
