package takeover

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/soak"
)

// A change changes the text of a client's file. It returns nil if there is nothing to change.
type change struct {
	name    string
	formats []splice.Format
	make    func(r *rand.Rand, c clientcfg.Client, src []byte) []byte
}

// everywhere is the list of all formats, for changes that apply to each of them. It is read-only.
var everywhere = []splice.Format{splice.JSON, splice.TOML, splice.YAML}

// clientShapes contains changes that make a file look like those of real users. It is read-only.
var clientShapes = []change{
	{"crlf", everywhere, func(_ *rand.Rand, _ clientcfg.Client, src []byte) []byte {
		return bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))
	}},
	{"tabs", []splice.Format{splice.JSON, splice.TOML}, func(_ *rand.Rand, _ clientcfg.Client, src []byte) []byte {
		return regexp.MustCompile(`(?m)^ +|(": |" =) *`).ReplaceAll(src, []byte("$1\t"))
	}},
	{"trailing commas", []splice.Format{splice.JSON}, func(_ *rand.Rand, _ clientcfg.Client, src []byte) []byte {
		return regexp.MustCompile(`(["\]}])(\s+[}\]])`).ReplaceAll(src, []byte("$1,$2"))
	}},
	{"comments", everywhere, func(r *rand.Rand, c clientcfg.Client, src []byte) []byte {
		return commented(r, c, commented(r, c, src))
	}},
	{"odd keys", everywhere, func(_ *rand.Rand, c clientcfg.Client, src []byte) []byte {
		return first(c, src, `"odd.key: ü # {}"`, `{"a/b": [1, null], "": "}"}`)
	}},
	{"a Windows path", everywhere, func(_ *rand.Rand, c clientcfg.Client, src []byte) []byte {
		return withServer(c, src, "windows", `C:\Users\ann b\tools\new.exe`)
	}},
	{"another server of our name", everywhere, func(_ *rand.Rand, c clientcfg.Client, src []byte) []byte {
		return withServer(c, src, Ours, "other")
	}},
	{"a byte order mark", everywhere, func(_ *rand.Rand, _ clientcfg.Client, src []byte) []byte {
		return append([]byte("\ufeff"), src...)
	}},
	{"no end of line", everywhere, func(_ *rand.Rand, _ clientcfg.Client, src []byte) []byte {
		return bytes.TrimRight(src, "\r\n")
	}},
}

// edits contains what people and clients do to a file between connect and disconnect. It is
// read-only.
var edits = []change{
	{"a server comes", everywhere, func(r *rand.Rand, c clientcfg.Client, src []byte) []byte {
		return withServer(c, src, fmt.Sprintf("new%d", r.IntN(1e9)), "later")
	}},
	{"a server goes", everywhere, func(r *rand.Rand, c clientcfg.Client, src []byte) []byte {
		doc, err := splice.Parse("file", src, c.Format)
		if err != nil {
			return nil
		}
		entries, err := doc.Entries(c.Place)
		if err != nil || len(entries) == 0 {
			return nil
		}
		e := entries[r.IntN(len(entries))]
		if e.Name == Ours {
			return nil
		}
		after, err := doc.Replace(c.Place, []string{e.Name})
		if err != nil {
			return nil
		}
		return after
	}},
	{"a comment comes", everywhere, commented},
	{"a setting comes", everywhere, func(r *rand.Rand, c clientcfg.Client, src []byte) []byte {
		return first(c, src, fmt.Sprintf(`"setting %d"`, r.IntN(1e9)), `[1, "two"]`)
	}},
	{"the client writes its file in a form of its own", []splice.Format{splice.JSON}, func(_ *rand.Rand, c clientcfg.Client, src []byte) []byte {
		doc, err := splice.Parse("file", src, c.Format)
		if err != nil {
			return nil
		}
		after, err := json.MarshalIndent(doc.Tree(), "", "    ")
		if err != nil {
			return nil
		}
		return after
	}},
}

// commented inserts a comment on a line of its own.
func commented(r *rand.Rand, c clientcfg.Client, src []byte) []byte {
	mark := "#"
	if c.Format == splice.JSON {
		mark = "//"
	}
	lines := bytes.SplitAfter(src, []byte("\n"))
	return bytes.Join(slices.Insert(lines, r.IntN(len(lines)), []byte(mark+" a note, \"quoted\" {\n")), nil)
}

// first inserts a key before all others.
func first(c clientcfg.Client, src []byte, key, value string) []byte {
	switch c.Format {
	case splice.JSON:
		return bytes.Replace(src, []byte("{"), []byte("{"+key+": "+value+","), 1)
	case splice.YAML:
		return append([]byte(key+": "+value+"\n"), src...)
	}
	return append([]byte(key+" = [1, \"two\", '}']\n"), src...)
}

func withServer(c clientcfg.Client, src []byte, name, command string) []byte {
	doc, err := splice.Parse("file", src, c.Format)
	if err != nil {
		return nil
	}
	after, err := doc.Replace(c.Place, nil, splice.New{Name: name, Value: splice.Object{{Key: "command", Value: command}, {Key: "args", Value: []string{`D:\x`}}}})
	if err != nil {
		return nil
	}
	return after
}

// A trip takes a file from import to disconnect.
type trip struct {
	*place
	r      *rand.Rand
	counts map[string]int
	taken  map[string]any // everything that connect has ever removed, by place and name
}

// change makes a change, provided that the file can still be parsed afterwards.
func (tr *trip) change(t *testing.T, src []byte, c change) []byte {
	t.Helper()
	if !slices.Contains(c.formats, tr.client.Format) {
		return src
	}
	next := c.make(tr.r, tr.client, src)
	if _, err := splice.Parse("file", next, tr.client.Format); err != nil || len(next) == 0 {
		return src
	}
	tr.counts[c.name]++
	return next
}

// servers returns the values of all servers in a text, and all other values in it.
func (tr *trip) servers(t *testing.T, src string) (servers map[string]any, rest any) {
	t.Helper()
	doc, err := splice.Parse("file", []byte(src), tr.client.Format)
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	servers, rest = map[string]any{}, doc.Tree()
	for _, at := range tr.client.Places(doc) {
		entries, err := doc.Entries(at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name != Ours {
				servers[at.String()+"/"+e.Name] = e.Value
			}
		}
		rest = without(rest, at.Path)
	}
	return servers, rest
}

// without returns a copy of a tree without the value at the given path.
func without(tree any, path []string) any {
	object, ok := tree.(map[string]any)
	if !ok {
		return tree
	}
	object = maps.Clone(object)
	if len(path) == 1 {
		delete(object, path[0])
	} else if _, ok := object[path[0]]; ok {
		object[path[0]] = without(object[path[0]], path[1:])
	}
	return object
}

// bare matches a line break without a carriage return. It is read-only.
var bare = regexp.MustCompile(`(^|[^\r])\n`)

// connects runs import and connect, and records what connect has removed.
func (tr *trip) connects(t *testing.T) {
	t.Helper()
	text := tr.read(t)
	before, _ := tr.servers(t, text)
	tr.take(t)
	tr.connect(t)
	connected := tr.read(t)
	if bare.MatchString(connected) && !bare.MatchString(text) {
		t.Errorf("a line ends with LF alone:\n%q", connected)
	}
	after, _ := tr.servers(t, connected)
	for name, value := range before {
		if _, there := after[name]; !there {
			tr.taken[name] = value
		}
	}
}

// overwrite simulates a running client that writes its state from before connect. This must be
// noticed.
func (tr *trip) overwrite(t *testing.T, memory []byte) {
	t.Helper()
	tr.desk.Running = func(context.Context) ([]clientcfg.Process, error) {
		return []clientcfg.Process{{"/opt/Claude/claude-desktop"}, {"/usr/bin/claude"}}, nil
	}
	if err := tr.desk.Disconnect(t.Context(), tr.client.Name, ""); tr.client.Overwrites != (err != nil) {
		t.Fatalf("disconnect while it runs: %v", err)
	}
	if !tr.client.Overwrites {
		tr.connects(t)
	}
	tr.write(t, memory)
	if l := tr.listed(t); l.Connected != "gone" && !strings.Contains(string(memory), Ours) {
		t.Fatalf("the client has overwritten its file, and it is said to be %+v", l)
	}
	tr.desk.Running = func(context.Context) ([]clientcfg.Process, error) { return nil, nil }
	tr.counts["the client overwrites its file"]++
}

// TestShapesAndEdits checks that realistic files of all clients are restored byte for byte if they
// were not edited in the meantime. If a file was edited, each server that connect has removed must
// be restored unchanged, all edits must be preserved, and nothing of petrigate must remain.
func TestShapesAndEdits(t *testing.T) {
	counts := map[string]int{}
	from, count := soak.Range(t, 6)
	refused, done := 0, 0
	for i, c := range clientcfg.All() {
		for seed := range uint64(count) {
			r := rand.New(rand.NewPCG(from+seed, uint64(i)))
			t.Run(fmt.Sprintf("%s/%d", c.Name, from+seed), func(t *testing.T) {
				tr := &trip{newPlace(t, c.Name), r, counts, map[string]any{}}
				if done++; !tr.roundTrip(t) {
					refused++
				}
			})
		}
	}
	for _, c := range append(append([]change{{name: "the client overwrites its file"}}, clientShapes...), edits...) {
		if count >= 6 && counts[c.name] < 5 {
			t.Errorf("%s: only %d times", c.name, counts[c.name])
		}
	}
	if refused*20 > done {
		t.Errorf("%d of %d files were refused", refused, done)
	}
}

// roundTrip returns false if disconnect refuses an edited file.
func (tr *trip) roundTrip(t *testing.T) bool {
	before := sample(t, tr.client.Name)
	for _, i := range tr.r.Perm(len(clientShapes))[:tr.r.IntN(len(clientShapes))] {
		before = tr.change(t, before, clientShapes[i])
	}
	tr.write(t, before)
	tr.connects(t)
	if tr.r.IntN(4) == 0 {
		tr.overwrite(t, before)
	}
	edited := false
	for range tr.r.IntN(5) {
		now := tr.read(t)
		next := tr.change(t, []byte(now), edits[tr.r.IntN(len(edits))])
		tr.write(t, next)
		edited = edited || now != string(next)
		if tr.r.IntN(3) == 0 {
			tr.connects(t)
		}
	}
	last := tr.read(t)
	if err := tr.desk.Disconnect(t.Context(), tr.client.Name, ""); err != nil {
		if !edited || tr.read(t) != last {
			t.Errorf("%v\n%s", err, last)
		}
		return false
	}
	got := tr.read(t)
	if !edited && got != string(before) {
		t.Errorf("it came back otherwise: %s", cmp.Diff(string(before), got))
	}
	want, wantRest := tr.servers(t, last)
	for name, value := range tr.taken {
		if _, there := want[name]; !there {
			want[name] = value
		}
	}
	servers, rest := tr.servers(t, got)
	if diff := cmp.Diff(want, servers); diff != "" {
		t.Errorf("servers differ:\n%s\nfrom\n%s\nto\n%s", diff, last, got)
	}
	if diff := cmp.Diff(wantRest, rest); diff != "" {
		t.Errorf("what is no server differs:\n%s", diff)
	}
	if strings.Contains(got, tr.config) {
		t.Errorf("petrigate is still there:\n%s", got)
	}
	if entries, err := os.ReadDir(tr.desk.State); err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "connected-") }) {
		t.Errorf("a note is left: %v %v", entries, err)
	}
	return true
}
