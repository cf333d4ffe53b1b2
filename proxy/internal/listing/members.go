package listing

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/petrigate/petrigate/internal/rawjson"
)

// Members combines the results of several list requests into the single result that clients see.
// The results are JSON objects. Members omits the members that contain the list elements, describe
// a page, or limit caching. With one upstream, it keeps all other members; if two pages differ, the
// first page takes precedence. With several upstreams, it drops a member if two upstreams give it
// different values, and it drops the member of _meta that describes a server. The same rules apply
// to each member of _meta.
type Members struct {
	Alone bool // whether there is only one upstream

	list  []*member
	known map[string]*member
	meta  *Members // members of _meta; nil if none
}

type member struct {
	key    string
	value  []byte
	of     string // name of the upstream that sent the member
	clash  bool
	within bool // whether the member is _meta; its value is then in Members.meta
}

// Add adds the members of one page of an upstream's list, other than the elements.
func (l *Members) Add(upstream string, page []byte) {
	rawjson.Members(page, func(key, value []byte, _ int) bool {
		switch {
		case isLeftOut(string(key)) || string(key) == mcp.MetaKeyServerInfo && !l.Alone:
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

// isLeftOut reports whether the combined result omits a member. It omits members that contain the
// elements, describe a single page, or limit caching. A server's cache limit is wrong for the
// combined result, which changes with the markings of the nets. isLeftOut ignores case, as some
// clients do. It also returns true for variants of _meta, such as _Meta.
func isLeftOut(key string) bool {
	known := []string{"nextCursor", "resultType", "ttlMs", "cacheScope", "tools", "prompts", "resources", "resourceTemplates"}
	return slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(key, k) }) ||
		key != "_meta" && strings.EqualFold(key, "_meta")
}

// Append appends the members to dst, each preceded by a comma.
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
