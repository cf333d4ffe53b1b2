package splice

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/internal/soak"
)

// shapes returns the files in testdata/shapes, each with the place of its servers.
func shapes(t testing.TB) map[string]shape {
	all := map[string]shape{}
	files, err := filepath.Glob("testdata/shapes/*")
	if err != nil || len(files) < 8 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := shape{src: src, at: Place{Path: []string{"mcpServers"}}}
		switch filepath.Ext(file) {
		case ".toml":
			s.format, s.at = TOML, Place{Path: []string{"mcp_servers"}}
		case ".yaml":
			s.format, s.at = YAML, Place{Path: []string{"extensions"}}
			if strings.Contains(file, "list") {
				s.at = Place{Path: []string{"mcpServers"}, Named: "name"}
			}
		default:
			s.format = JSON
		}
		name := filepath.Base(file)
		all[name] = s
		s.src = bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))
		all["crlf-"+name] = s
		s.src = append([]byte(byteOrderMark), src...)
		all["bom-"+name] = s
		s.src = bytes.TrimRight(src, "\n")
		all["noend-"+name] = s
	}
	return all
}

type shape struct {
	src    []byte
	format Format
	at     Place
}

var ours = New{"petrigate", Object{{"command", "/usr/local/bin/petrigate"}, {"args", []string{"serve", "--config", `C:\Users\ann\petri "gate".yaml`}}}}

func (s shape) parse(t testing.TB, src []byte) *Document {
	t.Helper()
	d, err := Parse("file", src, s.format)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return d
}

func (s shape) names(t testing.TB, d *Document) (names []string) {
	t.Helper()
	entries, err := d.Entries(s.at)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names
}

// TestThereAndBack checks that replacing entries and restoring them yields the original file, byte
// for byte.
func TestThereAndBack(t *testing.T) {
	for name, s := range shapes(t) {
		t.Run(name, func(t *testing.T) {
			d := s.parse(t, s.src)
			all := s.names(t, d)
			for mask := range 1 << len(all) {
				var some []string
				for i, name := range all {
					if mask&(1<<i) != 0 {
						some = append(some, name)
					}
				}
				text, err := d.Replace(s.at, some, ours)
				if err != nil {
					t.Fatalf("%v: %v", some, err)
				}
				next := s.parse(t, text)
				if want := len(all) - len(some) + 1; len(s.names(t, next)) != want {
					t.Fatalf("%v: %v", some, s.names(t, next))
				}
				back, err := next.Restore(s.at, d, some, "petrigate")
				if err != nil {
					t.Fatalf("%v: %v\n%s", some, err, text)
				}
				if diff := cmp.Diff(string(s.src), string(back)); diff != "" {
					t.Fatalf("%v comes back otherwise:\n%s\nfrom\n%s", some, diff, text)
				}
			}
		})
	}
}

// edits contains what a person or a client may do to a file in the meantime. Each edit takes a text
// and returns a new text, or nil.
var edits = map[Format][]func(r *rand.Rand, s shape, d *Document) []byte{
	JSON: {added, removed, lineComment("//"), topLevel(`{`, `{"added": {"k": [1, 2]},`), rewritten},
	TOML: {added, removed, lineComment("#"), appended("\n[added]\nk = [1, 2]\n")},
	YAML: {added, removed, lineComment("#"), appended("\nadded:\n  k: [1, 2]\n")},
}

func added(r *rand.Rand, s shape, d *Document) []byte {
	text, err := d.Replace(s.at, nil, New{"new" + string(rune('a'+r.IntN(26))), Object{{"command", "x"}, {"on", true}, {"n", 3}}})
	if err != nil {
		return nil
	}
	return text
}

func removed(r *rand.Rand, s shape, d *Document) []byte {
	entries, err := d.Entries(s.at)
	if err != nil || len(entries) == 0 {
		return nil
	}
	e := entries[r.IntN(len(entries))]
	if e.Name == "petrigate" {
		return nil
	}
	text, err := d.Replace(s.at, []string{e.Name})
	if err != nil {
		return nil
	}
	return text
}

// lineComment returns an edit that adds a comment on a line of its own.
func lineComment(mark string) func(*rand.Rand, shape, *Document) []byte {
	return func(r *rand.Rand, s shape, d *Document) []byte {
		lines := strings.SplitAfter(string(d.Bytes()), "\n")
		at := 1 + r.IntN(len(lines))
		lines = slices.Insert(lines, at, mark+" a note\n")
		return []byte(strings.Join(lines, ""))
	}
}

// rewritten returns the file as a client would write it from memory, in its own order and with its
// own indentation.
func rewritten(_ *rand.Rand, _ shape, d *Document) []byte {
	text, err := json.MarshalIndent(d.tree, "", "    ")
	if err != nil {
		return nil
	}
	return text
}

func topLevel(old, with string) func(*rand.Rand, shape, *Document) []byte {
	return func(_ *rand.Rand, _ shape, d *Document) []byte {
		return bytes.Replace(d.Bytes(), []byte(old), []byte(with), 1)
	}
}

func appended(text string) func(*rand.Rand, shape, *Document) []byte {
	return func(_ *rand.Rand, _ shape, d *Document) []byte { return append(bytes.Clone(d.Bytes()), text...) }
}

// TestEditsBetween checks that entries are restored with their values, whatever is edited while our
// entry is present, and that no edit is lost. A file that cannot be edited must be refused.
func TestEditsBetween(t *testing.T) {
	all := shapes(t)
	done, refused := 0, 0
	from, count := soak.Range(t, 6)
	for seed := range uint64(count) {
		r := rand.New(rand.NewPCG(from+seed, 0))
		for _, name := range slices.Sorted(keysOf(all)) {
			s := all[name]
			d := s.parse(t, s.src)
			some := s.names(t, d)
			r.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
			some = some[:r.IntN(len(some)+1)]
			text, err := d.Replace(s.at, some, ours)
			if err != nil {
				t.Fatal(err)
			}
			edited := s.parse(t, text)
			for range r.IntN(4) {
				change := edits[s.format][r.IntN(len(edits[s.format]))]
				next, err := Parse("file", change(r, s, edited), s.format)
				if err == nil && next.body != nil && len(next.src) > 0 {
					edited = next
				}
			}
			back, err := edited.Restore(s.at, d, missing(s.names(t, edited), some), "petrigate")
			if err != nil {
				refused++
				continue
			}
			done++
			s.compare(t, name, d, edited, back, some)
		}
	}
	if refused*50 > done {
		t.Errorf("%d of %d are refused", refused, done+refused)
	}
}

// missing returns the names that a file does not contain.
func missing(there, names []string) (gone []string) {
	for _, name := range names {
		if !slices.Contains(there, name) {
			gone = append(gone, name)
		}
	}
	return gone
}

func (s shape) compare(t *testing.T, name string, old, edited *Document, back []byte, some []string) {
	t.Helper()
	now := s.parse(t, back)
	was, between, values := old.values(s.at), edited.values(s.at), now.values(s.at)
	for _, n := range some {
		if diff := cmp.Diff(was[n], values[n]); diff != "" {
			t.Errorf("%s: %s: %s", name, n, diff)
		}
	}
	for n, v := range between {
		if n != "petrigate" && !cmp.Equal(v, values[n]) {
			t.Errorf("%s: the edit of %s is lost", name, n)
		}
	}
	if _, there := values["petrigate"]; there {
		t.Errorf("%s: ours is still there", name)
	}
}

func keysOf(m map[string]shape) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestEditElsewhere checks that only the edited parts differ afterwards.
func TestEditElsewhere(t *testing.T) {
	for name, s := range shapes(t) {
		if !bytes.HasSuffix(s.src, []byte("\n")) {
			continue
		}
		change := edits[s.format][3]
		d := s.parse(t, s.src)
		text, err := d.Replace(s.at, s.names(t, d), ours)
		if err != nil {
			t.Fatal(err)
		}
		edited := change(nil, s, s.parse(t, text))
		if _, err := Parse("file", edited, s.format); err != nil {
			continue // it had only one key
		}
		back, err := s.parse(t, edited).Restore(s.at, d, s.names(t, d), "petrigate")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := string(change(nil, s, d))
		if diff := cmp.Diff(want, string(back)); diff != "" && len(s.names(t, d)) > 0 {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestRefused checks that unsupported files are refused, with the position and a hint.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		format    Format
		src, want string
	}{
		{JSON, "{\n  \"mcpServers\": {\"a\": {}\n", `file:3:1: this is not JSON: parsing object after value: unexpected EOF (correct the file; petrigate does not edit a file that it cannot read)`},
		{JSON, "{\n  \"a\": 1,\n  \"a\": 2\n}", `file:3:3: duplicate key "a" (the first is on line 2; remove one of them)`},
		{JSON, `{"mcpServers": {"x": {}, "\u0078": {}}}`, `file:1:26: duplicate key "x" (the first is on line 1; remove one of them)`},
		{JSON, `{"mcpServers": [1]}`, `file:1:16: "mcpServers" must be a mapping of servers (correct it, or remove the key)`},
		{JSON, `[1]`, `file:1:1: the file must be a JSON object, in braces (correct the file)`},
		{JSON, "{\"a\": \"\xff\"}", `file:1:8: the file is not UTF-8 here (save it as UTF-8)`},
		{JSON, strings.Repeat("[", maxDepth+1), `file:1:1001: values are nested more than 1000 levels deep`},
		{TOML, "a = 1\nb = \n", `file:2:5: this is not TOML: unexpected character U+000A at start of value (correct the file; petrigate does not edit a file that it cannot read)`},
		{TOML, "[mcp_servers.a]\nx = 1\n[mcp_servers.a]\ny = 2\n", `file:3:2: this is not TOML: table a already exists (correct the file; petrigate does not edit a file that it cannot read)`},
		{TOML, "mcp_servers = { a = { command = \"x\" } }\n", `file:1:1: "mcp_servers" is written in braces, which petrigate does not edit (write a table for each server: [mcp_servers.NAME])`},
		{TOML, "[[mcp_servers]]\nname = \"x\"\n", `file:1:3: "mcp_servers" must be a mapping of servers (correct it, or remove the key)`},
		{TOML, "a = " + strings.Repeat("[", maxDepth+1), `file:1:1005: values are nested more than 1000 levels deep`},
		{YAML, "extensions:\n  a: 1\n a: 2\n", "file:3:2: value is not allowed in this context (check the indentation of this line and the line before it)"},
		{YAML, "extensions:\n  a: 1\n  a: 2\n", `file:3:3: this is not YAML: mapping key "a" already defined at [2:3] (correct the file; petrigate does not edit a file that it cannot read)`},
		{YAML, "extensions: {a: {cmd: x}}\n", `file:1:1: "extensions" is written in brackets, which petrigate does not edit (write each server on separate lines)`},
		{YAML, "extensions: [a]\n", `file:1:1: "extensions" must be a mapping of servers (correct it, or remove the key)`},
		{YAML, "- a\n", `file:1:1: the file must be a mapping, with a key on each line (correct the file)`},
		{YAML, "a: !!str 1\n", "file:1:4: tags are not supported"},
	} {
		at := map[Format]Place{JSON: {Path: []string{"mcpServers"}}, TOML: {Path: []string{"mcp_servers"}}, YAML: {Path: []string{"extensions"}}}[c.format]
		d, err := Parse("file", []byte(c.src), c.format)
		if err == nil {
			_, err = d.Replace(at, nil, ours)
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%.60q:\n got %v\nwant %s", c.src, err, c.want)
		}
	}
}

func fuzz(f *testing.F, format Format) {
	for _, s := range shapes(f) {
		if s.format == format {
			f.Add(s.src)
		}
	}
	at := map[Format]Place{JSON: {Path: []string{"mcpServers"}}, TOML: {Path: []string{"mcp_servers"}}, YAML: {Path: []string{"extensions"}}}[format]
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := Parse("file", src, format)
		if err != nil {
			return
		}
		s := shape{src, format, at}
		entries, err := d.Entries(at)
		if err != nil {
			return
		}
		var names []string
		for _, e := range entries {
			if e.Name != ours.Name {
				names = append(names, e.Name)
			}
		}
		text, err := d.Replace(at, names, ours)
		if err != nil {
			return
		}
		next := s.parse(t, text)
		if got := s.names(t, next); !slices.Equal(got, []string{ours.Name}) {
			t.Fatalf("%q are left", got)
		}
		if _, err := next.Restore(at, d, names, ours.Name); err != nil {
			t.Logf("refused: %v", err)
		}
	})
}

func FuzzJSON(f *testing.F) { fuzz(f, JSON) }
func FuzzTOML(f *testing.F) { fuzz(f, TOML) }
func FuzzYAML(f *testing.F) { fuzz(f, YAML) }

// FuzzText checks that any text can be written as a name, a key and a value, and read back.
func FuzzText(f *testing.F) {
	for _, text := range []string{"a", "", "two words", `C:\x "q"`, "a\tb\nc\r", "\u0000\u007f\u0085\u2028\ufeff", "${X} $$", "true", "- x: #y", "\U0001F600", "'", "<&>", "~", "0x1"} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		if !utf8.ValidString(name) || !utf8.ValidString(value) || name == "" || name == "k" {
			t.Skip()
		}
		n := New{name, Object{{"k", value}, {name, Object{{name, []string{value}}}}}}
		for format, at := range map[Format]Place{JSON: {Path: []string{"s"}}, TOML: {Path: []string{"s"}}, YAML: {Path: []string{"s"}}} {
			d, err := Parse("file", nil, format)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Replace(at, nil, n); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
		}
	})
}
