package wire

import (
	"bytes"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// splicer copies an object with some of its members changed. What it is not
// told to change is copied with the white space around it, so that an object
// of which nothing changes is copied byte for byte. The members must be passed
// in order, and close ends the object.
type splicer struct {
	dst, src []byte
	done     int // where the rest of src begins
	kept     int // members in dst
}

// splice begins the copy of the object src.
func splice(dst, src []byte) splicer {
	open := bytes.IndexByte(src, '{') + 1
	return splicer{dst: append(dst, src[:open]...), src: src, done: open}
}

// keep copies the member whose value is that at the offset at.
func (s *splicer) keep(value []byte, at int) { s.replace(value, at, value) }

// replace copies the member whose value is that at the offset at, with the
// value by.
func (s *splicer) replace(value []byte, at int, by []byte) {
	s.begin(at)
	s.dst = append(s.dst, by...)
	s.done = at + len(value)
}

// begin copies the member whose value is at the offset at, up to that value.
func (s *splicer) begin(at int) {
	head := s.src[s.done:at] // white space, a comma but before the first, a key, a colon
	if s.kept == 0 {
		if comma := bytes.IndexByte(head, ','); comma >= 0 && comma < bytes.IndexByte(head, '"') {
			s.dst = append(s.dst, head[:comma]...)
			head = head[comma+1:]
		}
	}
	s.kept++
	s.dst = append(s.dst, head...)
}

// drop leaves out the member whose value is that at the offset at.
func (s *splicer) drop(value []byte, at int) { s.done = at + len(value) }

// add appends members, written as "key":value with commas between them.
func (s *splicer) add(members ...[]byte) {
	if s.kept > 0 {
		s.dst = append(s.dst, ',')
	}
	s.kept++
	for _, m := range members {
		s.dst = append(s.dst, m...)
	}
}

// addString appends a member whose value is a string.
func (s *splicer) addString(key, value string) {
	s.add(nil)
	s.dst = append(rawjson.AppendString(s.dst, key), ':')
	s.dst = rawjson.AppendString(s.dst, value)
}

// close copies the end of the object.
func (s *splicer) close() []byte { return append(s.dst, s.src[s.done:]...) }

// ReplaceMember appends the object obj with the value of its member key
// replaced. The rest is copied byte for byte; without such a member, all of it.
func ReplaceMember(dst, obj []byte, key string, value []byte) []byte {
	found, end := -1, 0
	rawjson.Members(obj, func(k, v []byte, at int) bool {
		if string(k) == key {
			found, end = at, at+len(v)
		}
		return found < 0
	})
	if found < 0 {
		return append(dst, obj...)
	}
	dst = append(dst, obj[:found]...)
	dst = append(dst, value...)
	return append(dst, obj[end:]...)
}

// AppendStamped appends the result with those of the members that it does not
// have. They are written as "key":value with commas between them. A result
// that is no object is appended as it is.
func AppendStamped(dst, result, members []byte) []byte {
	n := 0
	count := func(_, _ []byte, _ int) bool { n++; return true }
	if !rawjson.Members(result, count) {
		return append(dst, result...)
	}
	end := bytes.LastIndexByte(result, '}')
	s := splicer{dst: append(dst, result[:end]...), src: result, done: end, kept: n}
	wanted := append(append([]byte{'{'}, members...), '}')
	rawjson.Members(wanted, func(key, value []byte, _ int) bool {
		if _, has := rawjson.Member(result, string(key)); !has {
			s.add(rawjson.AppendString(nil, string(key)), []byte{':'}, value)
		}
		return true
	})
	return s.close()
}
