package trail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// A verifyQueue verifies blocks of lines in parallel. It returns the results in the order of the
// blocks.
type verifyQueue struct {
	workers int
	jobs    []chan blockResult
	spare   [][]byte
}

// A blockResult is the result of verifying a block.
type blockResult struct {
	sound int // number of valid lines before the first fault
	seq   uint64
	what  string // describes the first fault; empty if there was none
	block []byte
}

func (q *verifyQueue) copy(block []byte) []byte {
	var room []byte
	if n := len(q.spare); n > 0 {
		room, q.spare = q.spare[n-1], q.spare[:n-1]
	}
	return append(room[:0], block...)
}

func (q *verifyQueue) pending() bool { return len(q.jobs) > 0 }

func (q *verifyQueue) next() blockResult {
	r := <-q.jobs[0]
	q.jobs = q.jobs[1:]
	q.spare = append(q.spare, r.block)
	return r
}

// drain waits until all blocks in the queue have been verified.
func (q *verifyQueue) drain() {
	for q.pending() {
		q.next()
	}
}

// check verifies a block of lines that follows the record at the given position. Earlier versions
// wrote lines without hashes. Such lines are accepted only before the first line with a hash;
// linked reports whether an earlier block had one. head comes from the log's head file, which
// stores the number and hash of the last record. If the block contains a record with this number,
// its hash must match.
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
			l, err := audit.ParseLine(line)
			at, ok = audit.Place{Seq: l.Seq}, err == nil && !l.Linked && l.Seq == before.Seq+1
		} else {
			linked = true
		}
		if ok && at.Seq == head.Seq && at.Hash != head.Hash {
			r.seq, r.what = at.Seq, "it differs from the record that the head names"
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

// describeFault explains why a line cannot follow the record at the given position.
func describeFault(line []byte, before audit.Place) string {
	l, err := audit.ParseLine(line)
	switch {
	case err != nil && strings.TrimSpace(string(line)) == "":
		return "the line is empty"
	case err != nil:
		return "the line is not an audit record: it was changed"
	case !l.Linked:
		return fmt.Sprintf("record %d has no hash: it was changed", l.Seq)
	case l.Seq > before.Seq+1:
		return fmt.Sprintf("record %d follows record %d: records between them are missing, or lines were reordered", l.Seq, before.Seq)
	case l.Seq <= before.Seq:
		return fmt.Sprintf("record %d follows record %d: a line was inserted, or lines were reordered", l.Seq, before.Seq)
	default:
		return fmt.Sprintf("the hash does not match record %d and the one before it: one of them was changed", l.Seq)
	}
}

// Constant parts of a line in a log file; see [audit.Line].
const (
	lineHead = `{"seq":`
	lineHash = `,"hash":"`
	lineTail = `"}`
	lineEnd  = len(lineHash) + 2*sha256.Size + len(lineTail)
)

// link returns the line's position in the chain (its number and hash), and reports whether the line
// follows the given record. The line must have the next number, and its hash must match its event
// and the previous hash. The buffer is scratch space; link returns it for reuse by the next call.
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
