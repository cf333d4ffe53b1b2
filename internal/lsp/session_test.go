package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sourcegraph/jsonrpc2"
)

// An editor communicates with a server in the same process through pipes. It uses a different
// implementation of the framing.
type editor struct {
	*testing.T
	dir       string
	conn      *jsonrpc2.Conn
	published chan publishParams
	shown     chan string
	ended     chan error
	versions  map[string]int
}

type pipes struct {
	io.Reader
	io.WriteCloser
}

func newEditor(t *testing.T, o Options, files map[string]string) *editor {
	t.Helper()
	e := &editor{T: t, dir: t.TempDir(), published: make(chan publishParams, 1000), shown: make(chan string, 10), ended: make(chan error, 1), versions: map[string]int{}}
	for name, src := range files {
		if err := os.WriteFile(filepath.Join(e.dir, name), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fromEditor, toServer := io.Pipe()
	fromServer, toEditor := io.Pipe()
	if o.Quiet == 0 {
		o.Quiet = time.Millisecond
	}
	go func() {
		e.ended <- Serve(context.Background(), fromEditor, toEditor, o)
		_ = toEditor.Close()
	}()
	e.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(pipes{fromServer, toServer}, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
			switch r.Method {
			case "textDocument/publishDiagnostics":
				var p publishParams
				if err := json.Unmarshal(*r.Params, &p); err != nil {
					t.Error(err)
				}
				e.published <- p
			case "window/showMessage":
				e.shown <- string(*r.Params)
			}
			return nil, nil
		}))
	t.Cleanup(func() { _ = e.conn.Close() })
	return e
}

// ask sends a request and returns its result.
func ask[T any](e *editor, method string, params any) T {
	e.Helper()
	var result T
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := e.conn.Call(ctx, method, params, &result); err != nil {
		e.Fatalf("%s: %v", method, err)
	}
	return result
}

func (e *editor) tell(method string, params any) {
	e.Helper()
	if err := e.conn.Notify(context.Background(), method, params); err != nil {
		e.Fatal(err)
	}
}

func (e *editor) initialize(options any) {
	e.Helper()
	ask[map[string]any](e, "initialize", map[string]any{"processId": nil, "rootUri": nil, "initializationOptions": options, "capabilities": map[string]any{
		"textDocument": map[string]any{"completion": map[string]any{"completionItem": map[string]any{"snippetSupport": true}}},
	}})
	e.tell("initialized", map[string]any{})
}

func (e *editor) uri(name string) string { return uriOf(filepath.Join(e.dir, name)) }

func (e *editor) open(name, src string) {
	e.Helper()
	e.versions[name] = 1
	e.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": e.uri(name), "languageId": "petrigate-rules", "version": 1, "text": src}})
}

func (e *editor) change(name string, changes ...any) {
	e.Helper()
	e.versions[name]++
	e.tell("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri(name), "version": e.versions[name]}, "contentChanges": changes})
}

func whole(src string) any { return map[string]any{"text": src} }

// diagnostics waits for the diagnostics of a file's current version and returns them, one per line.
func (e *editor) diagnostics(name string) []string {
	e.Helper()
	for {
		select {
		case p := <-e.published:
			if p.URI != e.uri(name) || p.Version != nil && *p.Version != e.versions[name] || p.Version == nil && e.versions[name] > 0 {
				continue
			}
			lines := []string{}
			for _, d := range p.Diagnostics {
				lines = append(lines, fmt.Sprintf("%d:%d-%d:%d %d %s %s", d.Range.Start.Line, d.Range.Start.Character, d.Range.End.Line, d.Range.End.Character, d.Severity, d.Code, d.Message))
			}
			return lines
		case <-time.After(10 * time.Second):
			e.Fatal("no diagnostics of " + name)
		}
	}
}

func (e *editor) want(name string, want ...string) {
	e.Helper()
	if diff := cmp.Diff(append([]string{}, want...), e.diagnostics(name)); diff != "" {
		e.Fatalf("diagnostics of %s, -want +got:\n%s", name, diff)
	}
}

// at returns a request for the position marked by | in src, and src without the mark.
func (e *editor) at(name, src string) (map[string]any, string) {
	e.Helper()
	before, after, ok := strings.Cut(src, "|")
	if !ok {
		e.Fatalf("no | in %q", src)
	}
	return map[string]any{"textDocument": identifier{e.uri(name)}, "position": newContent(before).position(len(before))}, before + after
}

func (e *editor) hover(name, src string) string {
	e.Helper()
	params, src := e.at(name, src)
	e.change(name, whole(src))
	if h := ask[*hover](e, "textDocument/hover", params); h != nil {
		return h.Contents.Value
	}
	return ""
}

func (e *editor) complete(name, src string) []string {
	e.Helper()
	params, src := e.at(name, src)
	e.change(name, whole(src))
	var labels []string
	for _, item := range ask[completionList](e, "textDocument/completion", params).Items {
		if item.Kind != kindSnippet {
			labels = append(labels, item.TextEdit.NewText)
		}
	}
	slices.Sort(labels)
	return labels
}

func (e *editor) exit() {
	e.Helper()
	ask[any](e, "shutdown", nil)
	e.tell("exit", nil)
	if err := <-e.ended; err != nil {
		e.Error(err)
	}
}

// TestSession plays a session from initialize to exit.
func TestSession(t *testing.T) {
	e := newEditor(t, Options{}, nil)
	e.initialize(nil)
	e.open("a.rules", "requir backup before delete\n")
	e.want("a.rules", `0:0-0:6 1 E003 unknown statement "requir"`+"\nhelp: did you mean \"require\"?")

	e.change("a.rules", map[string]any{"range": Range{Position{0, 0}, Position{0, 6}}, "text": "require"})
	e.want("a.rules")

	e.change("a.rules", whole("require backup before delete\nprove at-most 1 delete per session # no\n"))
	e.want("a.rules", "1:0-1:34 1 E301 refuted: prove at-most 1 delete per session\n"+
		"  these calls are admitted, and more than 1 of them are delete:\n"+
		"     1. backup succeeds\n     2. delete is admitted\n     3. backup succeeds\n     4. delete is admitted")

	if got, want := e.hover("a.rules", "req|uire backup before delete\n"), "Each call to `delete` requires its own successful call to `backup` first.\n\nNet `require-backup-before-delete`, 3 states."; !strings.HasPrefix(got, want) {
		t.Errorf("hover: %s", got)
	}
	if got, want := e.complete("a.rules", "require backup before delete\nblock |\n"), []string{"backup", "delete"}; !slices.Equal(got, want) {
		t.Errorf("completion: %q", got)
	}
	e.change("a.rules", whole("require  backup before delete\r\n\r\n\r\n\r\nblock   rm\r\n"))
	edits := ask[[]textEdit](e, "textDocument/formatting", map[string]any{"textDocument": identifier{e.uri("a.rules")}, "options": map[string]any{}})
	if want := []textEdit{{Range{Position{0, 0}, Position{5, 0}}, "require backup before delete\r\n\r\nblock rm\r\n"}}; cmp.Diff(want, edits) != "" {
		t.Errorf("formatting: %s", cmp.Diff(want, edits))
	}
	e.exit()
}

// TestProject checks that a file belongs to the nearest configuration that lists it, based on the
// texts of open documents.
func TestProject(t *testing.T) {
	const cfg = "version: 1\nmcpServers: { a: { url: \"https://a.example/mcp\", headers: { Authorization: \"Bearer ${PETRIGATE_NOT_SET_HERE:-x}\" } } }\nrules: [{ file: one.rules }, { file: two.rules }]\naudit: { file: audit.jsonl }\n"
	e := newEditor(t, Options{}, map[string]string{
		"petrigate.yaml": cfg,
		"one.rules":      "map bash.command runs rm as remove\nblock y\n",
		"two.rules":      "block remove\n",
		"other.rules":    "block x\n",
	})
	e.initialize(nil)
	e.open("one.rules", "map bash.command runs rm as remove\nblock y\n")
	e.want("one.rules")
	e.open("two.rules", "block removed\n")
	e.want("one.rules")
	e.want("two.rules", "0:6-0:13 2 W113 no map defines the name removed; the map at one.rules:1:29 defines remove, which no rule uses\nhelp: did you mean \"remove\"?")
	e.change("two.rules", whole("block other\n"))
	e.want("one.rules", "0:28-0:34 2 W002 no rule uses the name remove")
	e.want("two.rules")

	params, src := e.at("two.rules", "block remo|ve # ü𝄞\n")
	e.change("two.rules", whole(src))
	e.want("one.rules")
	e.want("two.rules")
	places := ask[[]location](e, "textDocument/definition", params)
	if want := []location{{e.uri("one.rules"), Range{Position{0, 0}, Position{0, 34}}}}; cmp.Diff(want, places) != "" {
		t.Errorf("definition: %s", cmp.Diff(want, places))
	}
	if got := e.hover("two.rules", "block remo|ve\n"); !strings.Contains(got, "one.rules:1") {
		t.Errorf("hover: %s", got)
	}
	e.open("petrigate.yaml", strings.Replace(cfg, "rules:", "rule:", 1))
	if got := e.diagnostics("petrigate.yaml"); len(got) != 1 || !strings.Contains(got[0], `"rule"`) {
		t.Errorf("%q", got)
	}
	e.want("two.rules")
	e.exit()
}

// TestTools checks completion and diagnostics with a recorded list of tools, and code actions for
// hints.
func TestTools(t *testing.T) {
	tools := `{"tools": [{"name": "delete_file", "inputSchema": {"type": "object", "properties": {"path": {}, "force": {}}}}, {"name": "odd name"}]}`
	e := newEditor(t, Options{}, map[string]string{"tools.json": tools})
	e.initialize(map[string]any{"tools": filepath.Join(e.dir, "tools.json")})
	e.open("a.rules", "block delete_fil # 𝄞\n")
	for got := false; !got; {
		p := <-e.published
		if len(p.Diagnostics) == 0 {
			continue
		}
		got = true
		if d := p.Diagnostics[0]; d.Data == nil || d.Data.Write != "delete_file" || d.Code != "W101" {
			t.Fatalf("%+v", d)
		}
		actions := ask[[]codeAction](e, "textDocument/codeAction", map[string]any{"textDocument": identifier{p.URI}, "range": Range{}, "context": map[string]any{"diagnostics": p.Diagnostics}})
		want := map[string][]textEdit{p.URI: {{Range{Position{0, 6}, Position{0, 16}}, "delete_file"}}}
		if len(actions) != 1 || cmp.Diff(want, actions[0].Edit.Changes) != "" {
			t.Errorf("%+v", actions)
		}
	}
	for src, want := range map[string][]string{
		"block |":     {`"odd name"`, "delete_file"},
		"block \"od|": {`"odd name"`},
		"require delete_file before delete_file with same |": {"force", "path"},
		"map |":                             {`"odd name"`, "delete_file"},
		"map delete_file.p|":                {"delete_file.path"},
		"limit delete_file to 3 |":          {"at", "in", "of", "per"},
		"limit delete_file to 3 per user |": {"because", "for", "per", "unless", "with"},
		"require human-approval |":          {"before", "via"},
		"require 2 |":                       {"before", "human-approvals", "or"},
		"prove |":                           {"always-possible", "at-most", "conserved", "deadlock-free", "exclusive", "never", "no-terminal-states", "reachable"},
		"block x # requ|":                   nil,
		"sha|":                              {"shadow"},
	} {
		got := e.complete("a.rules", src)
		if strings.HasPrefix(src, "prove") {
			got = slices.DeleteFunc(got, func(s string) bool { return !slices.Contains(want, s) }) // there may be further items
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
	e.exit()
}

// TestOutdated checks that a change ends a long check and that the new result arrives soon.
func TestOutdated(t *testing.T) {
	e := newEditor(t, Options{}, nil)
	e.initialize(nil)
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "limit a%d to 50 per session\nrequire a%d before a%d\nprove always-possible a%d\n", i, i, (i+1)%40, i)
	}
	e.open("a.rules", long.String())
	begin := time.Now()
	for range 20 {
		e.change("a.rules", whole("block x\nblok\n"))
		e.change("a.rules", whole(long.String()))
	}
	e.change("a.rules", whole("blok"))
	e.want("a.rules", "0:0-0:4 1 E003 unknown statement \"blok\"\nhelp: did you mean \"block\"?")
	t.Log(time.Since(begin))
	e.exit()
}

// TestBroken checks that invalid messages do not end the session.
func TestBroken(t *testing.T) {
	e := newEditor(t, Options{}, nil)
	e.initialize(map[string]any{"tools": "nowhere.json"})
	if got := <-e.shown; !strings.Contains(got, "nowhere.json") {
		t.Errorf("%s", got)
	}
	for _, params := range []any{nil, 1, []int{1}, map[string]any{"textDocument": 1}, map[string]any{"textDocument": identifier{"untitled:x"}, "contentChanges": []any{map[string]any{"range": Range{Position{-3, 5}, Position{-9, 1}}, "text": "x"}}}} {
		for _, method := range []string{"didOpen", "didChange", "didClose", "didSave"} {
			e.tell("textDocument/"+method, params)
		}
		for _, method := range []string{"hover", "completion", "formatting", "codeAction", "nonsense"} {
			var result any
			_ = e.conn.Call(context.Background(), "textDocument/"+method, params, &result) // any answer is acceptable
		}
	}
	e.open("a.rules", "block\r\r\nblock \xff\n\x00")
	if got := e.diagnostics("a.rules"); len(got) != 2 {
		t.Errorf("%q", got)
	}
	e.change("a.rules", whole("block "+strings.Repeat("x", maxLine)))
	if got := e.diagnostics("a.rules"); len(got) != 1 || !strings.HasSuffix(got[0], "line 1 is over 16 KiB, and the text is not checked") {
		t.Errorf("%.200q", got)
	}
	e.exit()
}
