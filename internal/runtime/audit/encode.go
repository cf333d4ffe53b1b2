package audit

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// AppendEvent appends e to dst as a JSON object on one line. The encoding is that of
// [json.Marshal], with invisible characters escaped. For speed, the most frequent events (decisions
// and outcomes) are encoded using tables where possible.
func AppendEvent(dst []byte, e Event) ([]byte, error) {
	b, object := encoder{}, dst
	switch e := e.(type) {
	case *Decision:
		at := e.fields()
		object = b.object(dst, decisionTable, at[:])
	case *Outcome:
		at := e.fields()
		object = b.object(dst, outcomeTable, at[:])
	case Decision:
		return AppendEvent(dst, &e)
	case Outcome:
		return AppendEvent(dst, &e)
	default:
		b.unsupported = true
	}
	if !b.unsupported {
		return object, nil
	}
	object, err := json.Marshal(e)
	if err != nil {
		return dst, err
	}
	return append(dst, text.EscapeJSON(object)...), nil
}

// An encoder encodes structs as JSON, using a [table] for each type.
type encoder struct {
	unsupported bool // whether the encoder's output is unusable because a value must be encoded by package json
}

// object appends an object with the values at the given addresses. The object must have at least
// one member that is not omitted.
func (b *encoder) object(dst []byte, t table, at []any) []byte {
	start := len(dst)
	for i := range t {
		if s, ok := at[i].(*string); !ok {
			dst = b.member(dst, &t[i], at[i])
		} else if *s != "" || !t[i].omit {
			dst = b.string(append(dst, t[i].start...), *s)
		}
	}
	dst[start] = '{'
	return append(dst, '}')
}

// member appends a JSON member whose value is not a string. It appends nothing if the value is
// empty and the member can be omitted.
func (b *encoder) member(dst []byte, m *member, at any) []byte {
	switch v := at.(type) {
	case *time.Time:
		if m.omit && v.IsZero() {
			break
		}
		_, offset := v.Zone()
		year := v.Year()
		b.unsupported = b.unsupported || year < 0 || year > 9999 || offset%60 != 0 || offset <= -24*3600 || offset >= 24*3600
		return append(v.AppendFormat(append(append(dst, m.start...), '"'), time.RFC3339Nano), '"')
	case *uint64:
		if *v != 0 || !m.omit {
			return strconv.AppendUint(append(dst, m.start...), *v, 10)
		}
	case *int:
		if *v != 0 || !m.omit {
			return strconv.AppendInt(append(dst, m.start...), int64(*v), 10)
		}
	case *float64:
		size := math.Abs(*v)
		b.unsupported = b.unsupported || *v != 0 && !(size >= 1e-6 && size < 1e21) // negated, so that NaN counts as unsupported too
		return strconv.AppendFloat(append(dst, m.start...), *v, 'f', -1, 64)
	case *bool:
		if *v {
			return append(append(dst, m.start...), "true"...)
		}
	case *json.RawMessage:
		if len(*v) > 0 {
			return b.value(append(dst, m.start...), *v)
		}
	case *json.Number:
		if *v != "" {
			b.unsupported = b.unsupported || rawjson.Kind([]byte(*v)) != '0'
			return b.value(append(dst, m.start...), []byte(*v))
		}
	case *[]string:
		return list(dst, m, *v, func(dst []byte, s *string) []byte { return b.string(dst, *s) })
	case *[]json.RawMessage:
		return list(dst, m, *v, func(dst []byte, value *json.RawMessage) []byte { return b.value(dst, *value) })
	case *[]NetVerdict:
		return list(dst, m, *v, func(dst []byte, n *NetVerdict) []byte {
			at := n.fields()
			return b.object(dst, netTable, at[:])
		})
	case *[]Value:
		return list(dst, m, *v, func(dst []byte, v *Value) []byte {
			at := v.fields()
			return b.object(dst, valueTable, at[:])
		})
	case **Would:
		if *v != nil {
			at := (*v).fields()
			return b.object(append(dst, m.start...), wouldTable, at[:])
		}
	default:
		panic(fmt.Sprintf("audit: no encoding for the member %q, a %T", m.name, at))
	}
	return dst
}

// list appends a member whose value is a list. It omits an empty list.
func list[T any](dst []byte, m *member, list []T, element func(dst []byte, one *T) []byte) []byte {
	if len(list) == 0 {
		return dst
	}
	dst = append(dst, m.start...)
	for i := range list {
		dst = element(append(dst, "[,"[min(i, 1)]), &list[i])
	}
	return append(dst, ']')
}

// value appends a JSON value the way package json does: compact and escaped. It leaves invalid JSON
// to package json.
func (b *encoder) value(dst, value []byte) []byte {
	if b.unsupported = b.unsupported || rawjson.Check(value, rawjson.MaxDepth) != nil; b.unsupported {
		return dst
	}
	start, from := len(dst), 0
	inside, ascii := false, true // inside tells whether value[i] is inside a JSON string
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case verbatim[c] && c != ' ':
		case c == '\\':
			i++
		case c > '~':
			ascii = false
		case c == '"':
			inside = !inside
		case c <= ' ' && !inside:
			dst, from = append(dst, value[from:i]...), i+1
		case c == '<' || c == '>' || c == '&':
			dst, from = fmt.Appendf(append(dst, value[from:i]...), `\u%04x`, c), i+1
		}
	}
	dst = append(dst, value[from:]...)
	if !ascii {
		dst = append(dst[:start], text.EscapeJSON(dst[start:])...)
	}
	return dst
}

func (b *encoder) string(dst []byte, s string) []byte {
	n := 0 // length of the prefix of s that needs no escapes
	for n+4 <= len(s) && verbatim[s[n]] && verbatim[s[n+1]] && verbatim[s[n+2]] && verbatim[s[n+3]] {
		n += 4
	}
	for n < len(s) && verbatim[s[n]] {
		n++
	}
	if n == len(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	quoted, err := json.Marshal(s)
	b.unsupported = b.unsupported || err != nil
	return append(dst, text.EscapeJSON(quoted)...)
}

// verbatim is the set of bytes that need no escaping in a JSON string.
var verbatim = func() (t [256]bool) {
	for c := ' '; c <= '~'; c++ {
		t[c] = !strings.ContainsRune(`"\\<>&`, c)
	}
	return t
}()
