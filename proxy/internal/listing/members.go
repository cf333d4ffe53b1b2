package listing

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// Members are what upstreams say of their lists beside the elements, put
// together for the one list that clients see. That of an only upstream is kept
// whole; of pages that disagree the first one counts. Of several upstreams a
// member is kept unless two of them say different things: neither may speak for
// the other. In _meta that holds for each key by itself.
type Members struct {
	Alone bool // there is one upstream

	list  []*member
	known map[string]*member
	meta  *Members // the members of _meta; nil: there is none
}

type member struct {
	key    string
	value  []byte
	of     string // the upstream
	clash  bool
	within bool // the value is that of Members.meta
}

// Add takes a page of a list of an upstream without its elements.
func (l *Members) Add(upstream string, page []byte) {
	rawjson.Members(page, func(key, value []byte, _ int) bool {
		switch {
		case leftOut(string(key)) || string(key) == mcp.MetaKeyServerInfo && !l.Alone:
		case string(key) == "_meta" && rawjson.Kind(value) == '{':
			if l.meta == nil {
				l.meta = &Members{Alone: l.Alone}
			}
			l.meta.Add(upstream, value)
			l.note(&member{key: "_meta", within: true})
		default:
			l.note(&member{key: string(key), value: bytes.Clone(value), of: upstream})
		}
		return true
	})
}

func (l *Members) note(m *member) {
	if l.known == nil {
		l.known = map[string]*member{}
	}
	before := l.known[m.key]
	switch {
	case before == nil:
		l.known[m.key] = m
		l.list = append(l.list, m)
	case before.within || before.of == m.of || bytes.Equal(before.value, m.value):
	default:
		before.clash = true
	}
}

// leftOut reports whether a member belongs to one page, or says how long just
// this answer may be kept: what we answer can change with the nets. So does what
// a client could take for such a member, or for the elements themselves, since
// it reads keys without regard to case.
func leftOut(key string) bool {
	known := []string{"nextCursor", "resultType", "ttlMs", "cacheScope", "tools", "prompts", "resources", "resourceTemplates"}
	return slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(key, k) }) ||
		key != "_meta" && strings.EqualFold(key, "_meta")
}

// Append appends the members, each behind a comma.
func (l *Members) Append(dst []byte) []byte {
	for _, m := range l.list {
		if m.clash {
			continue
		}
		value := m.value
		if m.within {
			inner := l.meta.Append(nil)
			value = append(append([]byte{'{'}, bytes.TrimPrefix(inner, []byte{','})...), '}')
		}
		dst = rawjson.AppendString(append(dst, ','), m.key)
		dst = append(append(dst, ':'), value...)
	}
	return dst
}
