package verify

import (
	"slices"
	"strings"
)

// An invented name stands for all names that the same patterns match.
type invented struct {
	text string
	set  string // which patterns match, as a key
}

// maxInventions bounds the search for names.
const maxInventions = 3000

// invent finds, for each set of patterns that one name can match together, a
// name that begins with prefix and is none of those that are taken. complete
// is false where the search was given up.
func invent(patterns []string, prefix string, taken map[string]bool) (names []invented, complete bool) {
	alphabet := letters(patterns)
	type node struct {
		text string
		at   []uint64
	}
	start := make([]uint64, len(patterns))
	for i, p := range patterns {
		if len(p) > 62 {
			return nil, false
		}
		start[i] = spread(p, 1)
		for _, r := range []byte(prefix) {
			start[i] = step(p, start[i], r)
		}
	}
	queue := []node{{"", start}}
	visits := make(map[string]int)
	found := make(map[string]bool)
	for k := 0; k < len(queue); k++ {
		if k == maxInventions {
			return names, false
		}
		nd := queue[k]
		// A name that ends with a dot would be an action without a name.
		if set := accepted(patterns, nd.at); nd.text != "" && !strings.HasSuffix(nd.text, ".") && strings.Contains(set, "1") && !found[set] && !taken[prefix+nd.text] {
			found[set] = true
			names = append(names, invented{prefix + nd.text, set})
		}
		for _, c := range alphabet {
			next := make([]uint64, len(patterns))
			alive := uint64(0)
			for i, p := range patterns {
				next[i] = step(p, nd.at[i], c)
				alive |= next[i]
			}
			key := stateKey(next)
			if alive == 0 || visits[key] >= 2 {
				continue
			}
			visits[key]++
			queue = append(queue, node{nd.text + string(c), next})
		}
	}
	return names, true
}

// letters are the bytes of the patterns and one that none has. Patterns with
// other than ASCII letters have names only as they are written.
func letters(patterns []string) []byte {
	var out []byte
	all := strings.Join(patterns, "")
	for _, c := range []byte("xzqjvwkbcdfghlmnprst0123456789_-") {
		if !strings.Contains(all, string(c)) {
			out = append(out, c)
			break
		}
	}
	for _, c := range []byte(all) {
		if c != '*' && c != '?' && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// step moves the positions of a pattern over one byte.
func step(p string, at uint64, c byte) uint64 {
	var next uint64
	for i := range len(p) {
		if at&(1<<i) == 0 {
			continue
		}
		switch p[i] {
		case '*':
			next |= 1 << i
		case '?', c:
			next |= 1 << (i + 1)
		}
	}
	return spread(p, next)
}

// spread adds what is reached by stars that match nothing.
func spread(p string, at uint64) uint64 {
	for i := range len(p) {
		if at&(1<<i) != 0 && p[i] == '*' {
			at |= 1 << (i + 1)
		}
	}
	return at
}

func accepted(patterns []string, at []uint64) string {
	set := make([]byte, len(patterns))
	for i, p := range patterns {
		set[i] = '0'
		if at[i]&(1<<len(p)) != 0 {
			set[i] = '1'
		}
	}
	return string(set)
}

func stateKey(at []uint64) string {
	var b []byte
	for _, a := range at {
		for s := 0; s < 64; s += 8 {
			b = append(b, byte(a>>s))
		}
	}
	return string(b)
}

// joint reports whether others of the names together are matched by just the
// patterns that match a.
func joint(a invented, names []invented) bool {
	union := make([]byte, len(a.set))
	for i := range union {
		union[i] = '0'
	}
	for _, n := range names {
		if n.set == a.set || !within(n.set, a.set) {
			continue
		}
		for i := range union {
			union[i] = max(union[i], n.set[i])
		}
	}
	return string(union) == a.set
}

func within(a, b string) bool {
	for i := range a {
		if a[i] > b[i] {
			return false
		}
	}
	return true
}
