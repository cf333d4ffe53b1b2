package callclass

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/petrigate/petrigate/internal/list"
)

// A synthName is an invented name. It represents all names that match the same patterns.
type synthName struct {
	text string
	set  string // identifies the set of matching patterns
}

// A synthesis searches for names by exploring the product of the patterns' automata. The positions
// of each automaton are represented as a bit set, and the alphabet is reduced to the letters that
// the patterns distinguish.
type synthesis struct {
	patterns    []string
	tries       int
	clock       *clock
	prefixes    []string        // possible prefixes of a name; patterns are matched against the name with each prefix, and returned names have the first prefix
	taken       map[string]bool // names that must not be returned
	distinguish func(at []uint64) string
	// distinguish returns a key for a name. Its argument contains the states of the automata after
	// they have read the name. The search returns separate names for different keys and ignores
	// names with an empty key. If distinguish is nil, the search ignores names that no pattern
	// matches.
}

// maxSyntheses is the default maximum number of names to try; see [Options].
const maxSyntheses = 3000

// longestPattern is the maximum length of a pattern in bytes, so that its positions fit in a bit
// set.
const longestPattern = 62

// names returns a name for each combination of patterns that can match the same name. It does not
// return taken names. If there are several prefixes, a combination records the matching patterns
// for each prefix. complete is false if some names might be missing.
func (v *synthesis) names() (names []synthName, complete bool) {
	if slices.ContainsFunc(v.patterns, func(p string) bool { return len(p) > longestPattern }) {
		return nil, false
	}
	names, sets, complete := v.search(nil)
	if len(names) < sets { // for some pattern sets, only taken names were found
		names, _, complete = v.search(v.passCounts())
	}
	return names, complete
}

// Synthesize returns a name for each combination of patterns that match some name, avoiding taken
// names. The names begin with the first prefix. If there are several prefixes, a combination
// records the matching patterns for each prefix. complete is false if the search reached its limit
// or a pattern is too long.
func Synthesize(patterns, prefixes []string, taken map[string]bool) (names []string, complete bool) {
	v := synthesis{tries: maxSyntheses, patterns: patterns, prefixes: prefixes, taken: taken}
	found, complete := v.names()
	return list.Map(found, func(s synthName) string { return s.text }), complete
}

// search returns a name for each combination of patterns that it finds. It does not return taken
// names. It visits each state of the automata at most twice, plus the number that passes contains
// for the state. If passes is the result of passCounts, taken names do not use up the visits. sets
// is the number of combinations found, including those that only taken names have. complete is
// false if the search ended early.
func (v *synthesis) search(passes map[string]int) (names []synthName, sets int, complete bool) {
	type node struct {
		text string
		at   []uint64
	}
	alphabet := letters(v.patterns, v.takenRests())
	queue := []node{{"", v.start()}}
	visits := make(map[string]int)
	found := make(map[string]bool)
	take := func(nd node) {
		set, wanted := v.acceptedSet(nd.at)
		if wanted && !found[set] {
			if found[set] = !v.taken[v.prefixes[0]+nd.text]; found[set] {
				names = append(names, synthName{v.prefixes[0] + nd.text, set})
			}
		}
	}
	for k := 0; k < len(queue); k++ {
		if k == v.tries || v.clock.expired() {
			return names, len(found), false
		}
		nd := queue[k]
		if nd.text != "" && !strings.HasSuffix(nd.text, ".") { // a trailing dot would denote an action without a name
			take(nd)
		}
		for _, c := range alphabet {
			next := v.step(nd.at, c)
			key := keyAfter(c, next)
			if !slices.ContainsFunc(next, func(at uint64) bool { return at != 0 }) || visits[key] >= 2+passes[key] {
				continue
			}
			visits[key]++
			queue = append(queue, node{nd.text + string(c), next})
		}
	}
	if v.prefixes[0] != "" {
		take(queue[0]) // the name of an action can be empty
	}
	return names, len(found), true
}

// start returns the states of the automata after each prefix.
func (v *synthesis) start() []uint64 {
	var start []uint64
	for _, prefix := range v.prefixes {
		for _, p := range v.patterns {
			at := passStars(p, 1)
			for _, c := range prefix {
				at = step(p, at, c)
			}
			start = append(start, at)
		}
	}
	return start
}

// statesAfter returns the states that the automata reach by reading each prefix followed by name.
func (v *synthesis) statesAfter(name string) []uint64 {
	at := v.start()
	for _, c := range name {
		at = v.step(at, c)
	}
	return at
}

func (v *synthesis) step(at []uint64, c rune) []uint64 {
	next := make([]uint64, len(at))
	for i := range at {
		next[i] = step(v.patterns[i%len(v.patterns)], at[i], c)
	}
	return next
}

// takenRests returns the taken names that start with the first prefix. It removes the prefix from
// each name.
func (v *synthesis) takenRests() map[string]bool {
	rests := make(map[string]bool)
	for name := range v.taken {
		if rest, ok := strings.CutPrefix(name, v.prefixes[0]); ok {
			rests[rest] = true
		}
	}
	return rests
}

// passCounts counts, for each state, the taken names that pass through the state.
func (v *synthesis) passCounts() map[string]int {
	passes := make(map[string]int)
	for rest := range v.takenRests() {
		at := v.start()
		for _, c := range rest {
			at = v.step(at, c)
			passes[keyAfter(c, at)]++
		}
	}
	return passes
}

// keyAfter returns a key for the states that the automata reach by reading c. The key also depends
// on whether c is a dot, because a string that ends in a dot is not a name.
func keyAfter(c rune, at []uint64) string {
	if c == '.' {
		return "." + stateKey(at)
	}
	return stateKey(at)
}

// acceptedSet returns a key for the combination of patterns that match a name. It takes the states
// of the automata after they have read the name. The key includes the result of distinguish. wanted
// reports whether the search should return such a name.
func (v *synthesis) acceptedSet(at []uint64) (set string, wanted bool) {
	b := make([]byte, len(at))
	for i := range at {
		b[i] = '0'
		if at[i]&(1<<len(v.patterns[i%len(v.patterns)])) != 0 {
			b[i] = '1'
		}
	}
	if v.distinguish == nil {
		return string(b), slices.Contains(b, '1')
	}
	apart := v.distinguish(at)
	return string(b) + apart, apart != ""
}

// letters returns the letters that the search tries. The first letter occurs in no pattern and is
// chosen to avoid taken names. The letters of the patterns follow.
func letters(patterns []string, taken map[string]bool) []rune {
	all := strings.Join(patterns, "")
	out := list.Add([]rune{0}, []rune(strings.NewReplacer("*", "", "?", "").Replace(all))...)
	for out[0] = range otherLetters {
		if !strings.ContainsRune(all, out[0]) && !spelledWith(taken, out) {
			break
		}
	}
	return out
}

// otherLetters yields candidates for the letter that stands for all letters not in the patterns,
// starting with those that are common in tool names.
func otherLetters(yield func(rune) bool) {
	for _, c := range "xzqjvwkbcdfghlmnprst0123456789_-" {
		if !yield(c) {
			return
		}
	}
	for c := 'à'; yield(c); c++ {
	}
}

// spelledWith reports whether some name contains the first of the letters and consists only of the
// letters.
func spelledWith(names map[string]bool, letters []rune) bool {
	for name := range names {
		if strings.ContainsRune(name, letters[0]) && !strings.ContainsFunc(name, func(c rune) bool { return !slices.Contains(letters, c) }) {
			return true
		}
	}
	return false
}

// step returns the positions in pattern p that its automaton reaches by reading c.
func step(p string, at uint64, c rune) uint64 {
	var next uint64
	for i, r := range p {
		switch {
		case at&(1<<i) == 0:
		case r == '*':
			next |= 1 << i
		case r == '?' || r == c:
			next |= 1 << (i + utf8.RuneLen(r))
		}
	}
	return passStars(p, next)
}

// passStars adds the positions that the automaton reaches if stars match the empty string.
func passStars(p string, at uint64) uint64 {
	for i := range len(p) {
		if at&(1<<i) != 0 && p[i] == '*' {
			at |= 1 << (i + 1)
		}
	}
	return at
}

func stateKey(at []uint64) string {
	var b []byte
	for _, a := range at {
		b = binary.LittleEndian.AppendUint64(b, a)
	}
	return string(b)
}

// isJoint reports whether every pattern that matches a also matches a simpler name in names. A name
// is simpler if some, but not all, of these patterns match it, and no other patterns do.
func isJoint(a synthName, names []synthName) bool {
	union := bytes.Repeat([]byte{'0'}, len(a.set))
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
