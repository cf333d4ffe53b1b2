package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Prefixes that distinguish the kinds of lines in a segment.
const (
	headerStart = `{"log":1,"database":`
	recordStart = `{"writer":`
	stepStart   = `{"step":`
)

// A line in a hash chain ends with its hash in hexadecimal digits, between hashStart and hashEnd.
const (
	hashStart = `,"hash":"`
	hashEnd   = `"}`
	tailSize  = len(hashStart) + 2*sha256.Size + len(hashEnd)
)

// step is a [backend.Op] in the log. It is written as one line for each record, followed by a line
// with the state changes. The op is committed when this last line is in the file.
type step struct {
	number  uint64
	records []backend.Record
	moves   []move
	used    string // ID of the approval that the step uses up
	usedAt  time.Time
	stop    *backend.Stop
	on      bool // true if the stop begins, false if it ends
	hash    [sha256.Size]byte
}

// move is a step's change to one part of the state. A move replaces the part's data, changes the
// data, or removes the part. It can also replace some of the part's values.
type move struct {
	id      backend.PartID
	version int64 // 0 if the part is removed
	changed time.Time
	data    []byte            // new data; if nil and version is not 0, change is used instead
	change  []byte            // changes to the data; see [statecode.Merge]
	values  map[string][]byte // entries to replace in the part's values; nil removes an entry
}

// position is the end of a step in the log.
type position struct {
	step    uint64
	hash    [sha256.Size]byte
	segment uint64 // number of the segment, which equals the number of the last step before it
	offset  int64
}

// appendHeader appends the first line of a segment that begins after the given position.
func appendHeader(b []byte, database string, p *position) []byte {
	b = rawjson.AppendString(append(b, headerStart...), database)
	b = strconv.AppendUint(append(b, `,"after":`...), p.step, 10)
	return appendHash(b, p.hash)
}

func appendHash(b []byte, hash [sha256.Size]byte) []byte {
	b = hex.AppendEncode(append(b, hashStart...), hash[:])
	return append(b, hashEnd+"\n"...)
}

// appendStep appends the step's lines and sets the step's hash, which covers the previous step's
// hash and these lines. The caller must set the step's number first.
func appendStep(b []byte, s *step, before [sha256.Size]byte) ([]byte, error) {
	start := len(b)
	b = append(b, before[:]...)
	for i := range s.records {
		r := &s.records[i]
		if bytes.IndexByte(r.Object, '\n') >= 0 {
			return b[:start], errors.New("a record must be one line")
		}
		b = appendRecord(b, r)
	}
	b = strconv.AppendUint(append(b, stepStart...), s.number, 10)
	b = strconv.AppendInt(append(b, `,"records":`...), int64(len(s.records)), 10)
	if s.used != "" {
		b = appendName(append(b, `,"used":[`...), s.used)
		b = append(strconv.AppendInt(append(b, ','), s.usedAt.UnixMicro(), 10), ']')
	}
	if s.stop != nil {
		b = appendStop(b, s.stop, s.on)
	}
	var err error
	for i := range s.moves {
		b = append(b, [2]string{`,"moves":[`, `,`}[min(i, 1)]...)
		if b, err = appendMove(b, &s.moves[i]); err != nil {
			return b[:start], err
		}
	}
	if len(s.moves) > 0 {
		b = append(b, ']')
	}
	s.hash = sha256.Sum256(b[start:])
	b = append(b[:start], b[start+len(before):]...)
	return appendHash(b, s.hash), nil
}

// appendRecord appends a record's line.
func appendRecord(b []byte, r *backend.Record) []byte {
	b = appendName(append(b, recordStart...), r.Writer)
	b = strconv.AppendUint(append(b, `,"seq":`...), r.Seq, 10)
	b = strconv.AppendInt(append(b, `,"at":`...), r.Time.UnixMicro(), 10)
	if r.Session != "" {
		b = appendName(append(b, `,"of":`...), r.Session)
	}
	b = append(append(b, `,"record":`...), r.Object...)
	return appendHash(b, r.Hash)
}

func appendStop(b []byte, s *backend.Stop, on bool) []byte {
	b = appendName(append(b, `,"stop":{"session":`...), s.Session)
	b = appendName(append(b, `,"actor":`...), s.Actor)
	b = appendName(append(b, `,"reason":`...), s.Reason)
	b = strconv.AppendInt(append(b, `,"at":`...), s.Time.UnixMicro(), 10)
	return append(strconv.AppendBool(append(b, `,"on":`...), on), '}')
}

func appendMove(b []byte, m *move) ([]byte, error) {
	b = appendName(append(b, `{"part":[`...), string(m.id.Scope))
	b = appendName(append(b, ','), m.id.Name)
	b = strconv.AppendInt(append(b, `],"version":`...), m.version, 10)
	b = strconv.AppendInt(append(b, `,"at":`...), m.changed.UnixMicro(), 10)
	if m.version == 0 {
		return append(b, '}'), nil
	}
	ours := m.id.Scope == backend.Session || m.id.Scope == backend.Principal || m.id.Scope == backend.Global
	var err error
	if m.data == nil {
		b = append(append(b, `,"change":`...), m.change...)
	} else {
		b, err = appendData(append(b, `,"data":`...), m.data, ours)
	}
	first := true
	for key, data := range m.values {
		b = append(b, map[bool]string{true: `,"values":{`, false: `,`}[first]...)
		first = false
		b = append(appendName(b, key), ':')
		if data == nil {
			b = append(b, "null"...)
			continue
		}
		var more error
		b, more = appendData(b, data, ours)
		err = errors.Join(err, more)
	}
	if !first {
		b = append(b, '}')
	}
	return append(b, '}'), err
}

// maxDepth bounds the nesting depth of a state in a line.
const maxDepth = rawjson.MaxDepth - 8

// appendData appends JSON data to a line. If the data could break the format of the line, for
// example because it contains a line break, appendData appends it as a JSON string. If ours is
// true, the data must be the state of Petri nets. This state contains no line breaks and no deep
// nesting, so appendData does not check it.
func appendData(b, data []byte, ours bool) ([]byte, error) {
	if ours || bytes.IndexByte(data, '\n') < 0 && data[0] != '"' && rawjson.Check(data, maxDepth) == nil {
		return append(b, data...), nil
	}
	if !utf8.Valid(data) {
		return b, errors.New("a state must be JSON")
	}
	return rawjson.AppendString(b, string(data)), nil
}

func readData(value []byte) ([]byte, error) {
	if len(value) == 0 || value[0] != '"' {
		return bytes.Clone(value), nil
	}
	text, ok := rawjson.String(value)
	if !ok {
		return nil, errBroken
	}
	return []byte(text), nil
}

// hexPrefix marks a name that is written in hexadecimal digits because JSON cannot represent the
// original.
const hexPrefix = "\x01"

// appendName appends arbitrary bytes as a JSON string.
func appendName(b []byte, name string) []byte {
	if !utf8.ValidString(name) || strings.HasPrefix(name, hexPrefix) || strings.Contains(name, "\x00") {
		name = hexPrefix + hex.EncodeToString([]byte(name))
	}
	return rawjson.AppendString(b, name)
}

func readName(value []byte) (string, error) {
	name, ok := rawjson.String(value)
	if !ok {
		return "", errBroken
	}
	return plainName(name)
}

func plainName(name string) (string, error) {
	if digits, ok := strings.CutPrefix(name, hexPrefix); ok {
		plain, err := hex.DecodeString(digits)
		return string(plain), err
	}
	return name, nil
}

// errBroken means that a line of the log is invalid, for example because it was changed.
var errBroken = errors.New("it is not a log line")

// cutHash splits a line into the text before its hash, and the hash. The line must not include the
// line break.
func cutHash(line []byte) (rest []byte, hash [sha256.Size]byte, ok bool) {
	n := len(line) - tailSize
	if n <= 0 || !bytes.HasPrefix(line[n:], []byte(hashStart)) || !bytes.HasSuffix(line, []byte(hashEnd)) {
		return nil, hash, false
	}
	digits := line[n+len(hashStart) : len(line)-len(hashEnd)]
	if _, err := hex.Decode(hash[:], digits); err != nil || bytes.ContainsAny(digits, "ABCDEF") {
		return nil, hash, false
	}
	return line[:n], hash, true
}

// readHeader decodes a segment's first line.
func readHeader(line []byte) (database string, at position, err error) {
	rest, hash, ok := cutHash(line)
	name, rest := cutMember(rest, headerStart)
	after, _ := cutMember(rest, `,"after":`)
	if !ok || name == nil || after == nil {
		return "", at, errBroken
	}
	if database, err = readName(name); err == nil {
		at.step, err = strconv.ParseUint(string(after), 10, 64)
	}
	at.hash, at.segment, at.offset = hash, at.step, int64(len(line)+1)
	if err == nil && string(appendHeader(nil, database, &at)) != string(line)+"\n" {
		err = errBroken
	}
	return database, at, err
}

// members calls the function for every member of a JSON object that was written by this package.
func members(object []byte, each func(key string, value []byte) error) (err error) {
	whole := rawjson.Members(object, func(key, value []byte, _ int) bool {
		err = each(string(key), value)
		return err == nil
	})
	if err == nil && !whole {
		err = errBroken
	}
	return err
}

// readRecord decodes a record's line.
func readRecord(line []byte) (r backend.Record, err error) {
	rest, hash, ok := cutHash(line)
	if !ok {
		return r, errBroken
	}
	r.Hash = hash
	r, rest, err = readRecordHead(rest, r)
	if err != nil {
		return r, err
	}
	of, rest := cutMember(rest, `,"of":`)
	object, rest := cutMember(rest, `,"record":`)
	if object == nil || len(rest) > 0 {
		return r, errBroken
	}
	r.Object = bytes.Clone(object)
	if of != nil {
		r.Session, err = readName(of)
	}
	return r, err
}

// readRecordHead decodes the writer, the number and the time at the beginning of a record's line.
func readRecordHead(line []byte, r backend.Record) (_ backend.Record, rest []byte, err error) {
	writer, rest := cutMember(line, recordStart)
	seq, rest := cutMember(rest, `,"seq":`)
	at, rest := cutMember(rest, `,"at":`)
	if writer == nil || seq == nil || at == nil {
		return r, nil, errBroken
	}
	if r.Writer, err = readName(writer); err != nil {
		return r, nil, err
	}
	if r.Seq, err = strconv.ParseUint(string(seq), 10, 64); err != nil {
		return r, nil, err
	}
	r.Time, err = readTime(at)
	return r, rest, err
}

// cutMember returns the value of a JSON member at the beginning of the text, and the rest of the
// text. The member begins with the bytes in start. If the text begins with other bytes, or the
// value is invalid, cutMember returns nil and the whole text.
func cutMember(text []byte, start string) (value, rest []byte) {
	if !bytes.HasPrefix(text, []byte(start)) {
		return nil, text
	}
	end := rawjson.Skip(text, len(start))
	if end < 0 {
		return nil, text
	}
	return text[len(start):end], text[end:]
}

// readStep decodes a step's line, and returns the number of records before it. The caller must
// verify the hash.
func readStep(line []byte) (s step, records int, err error) {
	rest, hash, ok := cutHash(line)
	if !ok {
		return s, 0, errBroken
	}
	s.hash = hash
	object := append(rest[:len(rest):len(rest)], '}')
	err = members(object, func(key string, value []byte) (err error) {
		switch key {
		case "step":
			s.number, err = strconv.ParseUint(string(value), 10, 64)
		case "records":
			records, err = strconv.Atoi(string(value))
		case "used":
			s.used, s.usedAt, err = readUsed(value)
		case "stop":
			s.stop, s.on, err = readStop(value)
		case "moves":
			rawjson.Elements(value, func(value []byte, _ int) bool {
				var m move
				m, err = readMove(value)
				s.moves = append(s.moves, m)
				return err == nil
			})
		}
		return err
	})
	return s, records, err
}

func readUsed(value []byte) (id string, at time.Time, err error) {
	n := 0
	rawjson.Elements(value, func(value []byte, _ int) bool {
		if n++; n == 1 {
			id, err = readName(value)
		} else {
			at, err = readTime(value)
		}
		return err == nil
	})
	return id, at, err
}

func readTime(value []byte) (time.Time, error) {
	micros, err := strconv.ParseInt(string(value), 10, 64)
	return time.UnixMicro(micros).UTC(), err
}

func readStop(value []byte) (s *backend.Stop, on bool, err error) {
	s = &backend.Stop{}
	err = members(value, func(key string, value []byte) (err error) {
		switch key {
		case "session":
			s.Session, err = readName(value)
		case "actor":
			s.Actor, err = readName(value)
		case "reason":
			s.Reason, err = readName(value)
		case "at":
			s.Time, err = readTime(value)
		case "on":
			on = string(value) == "true"
		}
		return err
	})
	return s, on, err
}

func readMove(value []byte) (m move, err error) {
	err = members(value, func(key string, value []byte) (err error) {
		switch key {
		case "part":
			var name [2]string
			n := 0
			rawjson.Elements(value, func(value []byte, _ int) bool {
				name[min(n, 1)], err = readName(value)
				n++
				return err == nil
			})
			m.id = backend.PartID{Scope: backend.Scope(name[0]), Name: name[1]}
		case "version":
			m.version, err = strconv.ParseInt(string(value), 10, 64)
		case "at":
			m.changed, err = readTime(value)
		case "data":
			m.data, err = readData(value)
		case "change":
			m.change = bytes.Clone(value)
		case "values":
			m.values, err = readValues(value)
		}
		return err
	})
	return m, err
}

func readValues(value []byte) (map[string][]byte, error) {
	values := map[string][]byte{}
	err := members(value, func(key string, value []byte) error {
		name, err := plainName(key)
		if values[name] = nil; err == nil && string(value) != "null" {
			values[name], err = readData(value)
		}
		return err
	})
	return values, err
}

// scan decodes the steps in a section of a segment, one at a time.
type scan struct {
	at      position
	records []backend.Record
}

// next decodes the step at the beginning of data, which must follow the previous step, and moves
// the scan's position to its end. If data does not contain the whole step, next returns false and
// does not move the position. If the step is invalid, next also returns an error.
func (s *scan) next(data []byte) (st step, ok bool, err error) {
	s.records = s.records[:0]
	for done := 0; ; {
		line, _, whole := bytes.Cut(data[done:], []byte{'\n'})
		if !whole {
			return st, false, nil
		}
		switch {
		case bytes.HasPrefix(line, []byte(recordStart)):
			r, err := readRecord(line)
			if err != nil {
				return st, false, err
			}
			s.records = append(s.records, r)
			done += len(line) + 1
			continue
		case !bytes.HasPrefix(line, []byte(stepStart)):
			return st, false, errBroken
		}
		st, records, err := readStep(line)
		if err != nil {
			return st, false, err
		}
		h := sha256.New()
		h.Write(s.at.hash[:])
		h.Write(data[:done+len(line)-tailSize])
		if [sha256.Size]byte(h.Sum(nil)) != st.hash || st.number != s.at.step+1 || records != len(s.records) {
			return st, false, fmt.Errorf("%w: step %d does not follow step %d", errBroken, st.number, s.at.step)
		}
		st.records = append([]backend.Record(nil), s.records...)
		s.at.step, s.at.hash = st.number, st.hash
		s.at.offset += int64(done + len(line) + 1)
		return st, true, nil
	}
}
