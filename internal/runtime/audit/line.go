package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
)

// A Line is a parsed line of a log:
//
//	{"seq":7,"time":...,"policy":"...","hash":"<64 hex digits>"}
type Line struct {
	Seq    uint64
	Event  []byte // the JSON object without its "seq" and "hash" members
	Hash   [32]byte
	Linked bool // whether the line has a hash, unlike lines written by earlier versions
}

// Fixed parts of each line.
const (
	lineHead = `{"seq":`
	lineHash = `"hash":"`
	lineTail = `"}`
)

// hashEnd is the number of bytes from the start of the hash member to the end of a line, excluding
// the newline.
const hashEnd = len(lineHash) + 64 + len(lineTail)

var errNoRecord = errors.New("it is not an audit record")

// ParseLine parses a line without its newline. It does not validate the event.
func ParseLine(line []byte) (Line, error) {
	rest, ok := bytes.CutPrefix(line, []byte(lineHead))
	digits := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if !ok || digits <= 0 || len(rest)-digits < 1 || line[len(line)-1] != '}' {
		return Line{}, errNoRecord
	}
	seq, err := strconv.ParseUint(string(rest[:digits]), 10, 64)
	if err != nil || seq == 0 || rest[0] == '0' {
		return Line{}, errNoRecord
	}
	l := Line{Seq: seq}
	rest = rest[digits:]
	if n := len(rest) - hashEnd; n > 0 && bytes.HasPrefix(rest[n:], []byte(lineHash)) && rest[n-1] == ',' {
		text := rest[n+len(lineHash) : len(rest)-len(lineTail)]
		if _, err := hex.Decode(l.Hash[:], text); err == nil && bytes.HasSuffix(rest, []byte(lineTail)) && bytes.Equal(text, bytes.ToLower(text)) {
			l.Linked = true
			rest = append(rest[:n-1:n-1], '}')
		}
	}
	l.Event = append([]byte{'{'}, bytes.TrimPrefix(rest, []byte{','})...)
	return l, nil
}

// A Place is a position in a chain, given by the number and hash of a record. The zero value is the
// position before the first record.
type Place struct {
	Seq  uint64
	Hash [32]byte
}

func (l *Line) place() Place { return Place{Seq: l.Seq, Hash: l.Hash} }

// A Head identifies the last record of a writer's chain.
type Head struct {
	Writer string `json:"writer"`
	Seq    uint64 `json:"seq"`
	Hash   string `json:"hash"`
}

// Place returns the position of the head in its chain.
func (h Head) Place() (p Place, err error) {
	p.Seq = h.Seq
	if hex.DecodedLen(len(h.Hash)) != len(p.Hash) {
		return p, hex.ErrLength
	}
	_, err = hex.Decode(p.Hash[:], []byte(h.Hash))
	return p, err
}

// Head returns the position as the [Head] of a writer's chain.
func (l Place) Head(writer string) Head {
	return Head{Writer: writer, Seq: l.Seq, Hash: hex.EncodeToString(l.Hash[:])}
}

// append appends records to buf as the lines that follow l, and advances l to the last of them.
// Each record must be a JSON object.
func (l *Place) append(buf []byte, records ...[]byte) []byte {
	for _, record := range records {
		members := bytes.Trim(record[1:len(record)-1], " \t")
		l.Seq++
		start := len(buf)
		buf = append(buf, l.Hash[:]...) // the hash input is assembled in buf, where the line is written afterwards
		buf = strconv.AppendUint(buf, l.Seq, 10)
		buf = append(buf, '{')
		buf = append(buf, members...)
		buf = append(buf, '}')
		l.Hash = sha256.Sum256(buf[start:])
		buf = append(buf[:start], lineHead...)
		buf = strconv.AppendUint(buf, l.Seq, 10)
		if buf = append(buf, ','); len(members) > 0 {
			buf = append(buf, members...)
			buf = append(buf, ',')
		}
		buf = append(buf, lineHash...)
		buf = hex.AppendEncode(buf, l.Hash[:])
		buf = append(buf, lineTail+"\n"...)
	}
	return buf
}

// Link returns the hash of a record. The hash covers the hash of the previous record (zeros for the
// first record), the sequence number in decimal, and the event, which is the JSON object without
// its number and hash.
func Link(before [32]byte, seq uint64, event []byte) [32]byte {
	hash, _ := LinkIn(make([]byte, 0, 32+20+len(event)), before, seq, event)
	return hash
}

// LinkIn is like [Link], but assembles the hash input in buf, which it extends if necessary. It
// returns the buffer so that the caller can reuse it.
func LinkIn(buf []byte, before [32]byte, seq uint64, event []byte) (hash [32]byte, same []byte) {
	b := append(buf[:0], before[:]...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, event...)
	return sha256.Sum256(b), b
}

// check returns an error if record is too long, contains a line break, or is not an object. It does
// not check whether the object is valid JSON.
func check(record []byte) error {
	switch {
	case len(record) < 2 || record[0] != '{' || record[len(record)-1] != '}':
		return errors.New("an audit record must be a JSON object")
	case len(record) > maxRecord:
		return errors.New("an audit record must not be longer than 4 MiB")
	case bytes.IndexByte(record, '\n') >= 0 || bytes.IndexByte(record, '\r') >= 0:
		return errors.New("an audit record must be one line")
	}
	return nil
}

// maxRecord is the maximum length of a record. Valid records are shorter, because long arguments
// are not recorded.
const maxRecord = 4 << 20
