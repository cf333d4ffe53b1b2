package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// The functions below append a message, or a part of one, as a single line without a trailing
// newline. Arguments that are JSON must not contain newlines. IDs are passed as JSON; a nil ID is
// written as null.

// AppendRequest appends a request. params may be nil.
func AppendRequest(dst, id []byte, method string, params []byte) []byte {
	return appendMethod(appendID(dst, id), method, params)
}

// AppendRequestInt is like [AppendRequest] with an integer ID.
func AppendRequestInt(dst []byte, id int64, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	return appendMethod(strconv.AppendInt(dst, id, 10), method, params)
}

// AppendNotification appends a notification. params may be nil.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	return appendMethod(append(dst, `{"jsonrpc":"2.0"`...), method, params)
}

// IsNotification reports whether the message is a notification. The message must have been built by
// this package.
func IsNotification(message []byte) bool {
	return bytes.HasPrefix(message, []byte(`{"jsonrpc":"2.0","method":`))
}

func appendMethod(dst []byte, method string, params []byte) []byte {
	dst = append(dst, `,"method":`...)
	dst = rawjson.AppendString(dst, method)
	if params != nil {
		dst = append(append(dst, `,"params":`...), params...)
	}
	return append(dst, '}')
}

func appendID(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		return append(dst, "null"...)
	}
	return append(dst, id...)
}

// ResultHead returns the part of a response before the result; [Tail] is the part after it. With
// these parts, a large result can be written without copying it.
func ResultHead(id []byte) []byte {
	return append(appendID(make([]byte, 0, 48+len(id)), id), `,"result":`...)
}

// ErrorHead returns the part of a response before the error object.
func ErrorHead(id []byte) []byte {
	return append(appendID(make([]byte, 0, 48+len(id)), id), `,"error":`...)
}

// Tail is the end of a response that begins with [ResultHead] or [ErrorHead]. It must not be
// modified.
var Tail = []byte("}")

// AppendResult appends a response with a result.
func AppendResult(dst, id, result []byte) []byte {
	dst = append(appendID(dst, id), `,"result":`...)
	return append(append(dst, result...), '}')
}

// AppendError appends a response with an error. data may be nil.
func AppendError(dst, id []byte, code int, message string, data []byte) []byte {
	dst = append(appendID(dst, id), `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(code), 10)
	dst = append(dst, `,"message":`...)
	dst = rawjson.AppendString(dst, message)
	if data != nil {
		dst = append(append(dst, `,"data":`...), data...)
	}
	return append(dst, "}}"...)
}

// AppendText appends a text content block.
func AppendText(dst []byte, text string) []byte {
	dst = append(dst, `{"type":"text","text":`...)
	return append(rawjson.AppendString(dst, text), '}')
}

// AppendToolError appends the result of a failed tool call. The text becomes its only content
// block, which the model reads. If meta is not nil, it becomes the result's _meta, which only
// programs read. If typed is true, the result has the resultType "complete", as revision 2026-07-28
// requires.
func AppendToolError(dst []byte, text string, meta []byte, typed bool) []byte {
	dst = append(dst, `{"content":[`...)
	dst = append(AppendText(dst, text), `],"isError":true`...)
	if typed {
		dst = append(dst, `,"resultType":"complete"`...)
	}
	if meta != nil {
		dst = append(append(dst, `,"_meta":`...), meta...)
	}
	return append(dst, '}')
}

// Digest returns the SHA-256 hash of b in hexadecimal, the form used in names and records.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return string(hex.AppendEncode(make([]byte, 0, 2*len(sum)), sum[:]))
}

// A splicer copies an object and changes some of its members. Unchanged members are copied together
// with the white space around them, so an object without changes is copied byte for byte. Changes
// must be made in member order. The method close must be called last.
type splicer struct {
	dst, src []byte
	done     int  // offset in src; everything before it has been copied
	some     bool // whether dst already has a member
}

// splice returns a splicer that appends to dst a modified copy of the object src.
func splice(dst, src []byte) splicer {
	open := bytes.IndexByte(src, '{') + 1
	return splicer{dst: append(dst, src[:open]...), src: src, done: open}
}

// copyUpTo copies src up to the given offset. If the copy has no members yet, copyUpTo drops the
// comma before the next member.
func (s *splicer) copyUpTo(end int) {
	if end <= s.done {
		return
	}
	part := s.src[s.done:end] // a comma before the first quotation mark separates two members
	if !s.some {
		if comma := bytes.IndexByte(part, ','); comma >= 0 && comma < bytes.IndexByte(part, '"') {
			s.dst = append(s.dst, part[:comma]...)
			part = part[comma+1:]
		}
	}
	s.some = true
	s.dst = append(s.dst, part...)
	s.done = end
}

// replace copies src up to the member f, and gives the member a new value.
func (s *splicer) replace(f field, value []byte) {
	s.copyUpTo(f.at)
	s.dst = append(s.dst, value...)
	s.done = f.end
}

// drop omits the member f from the copy.
func (s *splicer) drop(f field) {
	s.copyUpTo(f.from)
	s.done = f.end
}

// add adds members, written as "key":value and separated by commas. The source must have been
// copied up to the end of the object's last member.
func (s *splicer) add(members ...[]byte) {
	if s.some {
		s.dst = append(s.dst, ',')
	}
	s.some = true
	for _, m := range members {
		s.dst = append(s.dst, m...)
	}
}

// close copies the rest of the object and returns the result.
func (s *splicer) close() []byte { return append(s.dst, s.src[s.done:]...) }

// ReplaceMember appends a copy of the object obj with a new value for one member. Everything else
// is copied byte for byte. If obj lacks the member, obj is appended unchanged.
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

// SetMember returns the object obj with a new value for the given member. If obj lacks the member,
// it is added at the end. A nil obj counts as an empty object.
func SetMember(obj []byte, key string, value []byte) []byte {
	if _, has := rawjson.Member(obj, key); has {
		return ReplaceMember(nil, obj, key, value)
	}
	if obj == nil {
		obj = []byte(`{}`)
	}
	return AppendStamped(nil, obj, rawjson.Object{}.Raw(key, value).Bytes())
}

// AppendStamped appends result, a JSON object, and adds the given members to it. It skips members
// that result already has. If result is not an object, it is appended unchanged.
func AppendStamped(dst, result, members []byte) []byte {
	last := 0 // offset of the end of the last member
	whole := rawjson.Members(result, func(_, value []byte, at int) bool {
		last = at + len(value)
		return true
	})
	if !whole {
		return append(dst, result...)
	}
	s := splice(dst, result)
	s.copyUpTo(last)
	rawjson.Members(members, func(key, value []byte, _ int) bool {
		if _, has := rawjson.Member(result, string(key)); !has {
			s.add(rawjson.AppendString(nil, string(key)), []byte{':'}, value)
		}
		return true
	})
	return s.close()
}

// AppendWithout appends the object obj without the given member.
func AppendWithout(dst, obj []byte, key string) []byte {
	s := splice(dst, obj)
	before := s.done
	rawjson.Members(obj, func(k, value []byte, at int) bool {
		end := at + len(value)
		if string(k) == key {
			s.copyUpTo(before)
			s.done = end
		}
		before = end
		return true
	})
	s.copyUpTo(before)
	return s.close()
}
