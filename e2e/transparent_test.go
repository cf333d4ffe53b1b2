package e2e

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A script is a server with the requests to make: its list of tools, and calls of all of them.
type script struct {
	name  string
	http  bool // whether the server also supports streamable HTTP
	args  func(root string) []string
	calls []string // names and arguments

	requests []string // other methods, with their params
}

func scripts() []script {
	return []script{{
		name: "everything", http: true,
		args: func(string) []string { return []string{"stdio"} },
		calls: []string{
			`echo {"message":"<b>ünï & \u2028</b>"}`,
			`echo {"message":7}`,
			`echo {}`,
			`get-annotated-message {"messageType":"error","includeImage":true}`,
			`get-env {}`,
			`get-resource-links {"count":2}`,
			`get-resource-reference {"resourceType":"Text","resourceId":2}`,
			`get-structured-content {"location":"Chicago"}`,
			`get-sum {"a":0.1,"b":1e3}`,
			`get-tiny-image {}`,
			`gzip-file-as-resource {"name":"a.gz","data":"data:text/plain,hello","outputType":"resource"}`,
			`toggle-simulated-logging {}`,
			`toggle-simulated-logging {}`,
			`toggle-subscriber-updates {}`,
			`toggle-subscriber-updates {}`,
			`trigger-long-running-operation {"duration":0.8,"steps":2}`,
			`simulate-research-query {"topic":"nets"}`,
		},
		requests: []string{
			`prompts/list {}`,
			`prompts/get {"name":"simple-prompt"}`,
			`prompts/get {"name":"args-prompt","arguments":{"city":"<b>ünï</b>"}}`,
			`prompts/get {"name":"resource-prompt","arguments":{"resourceType":"Text","resourceId":"1"}}`,
			`resources/list {}`,
			`resources/templates/list {}`,
			`resources/read {"uri":"demo://resource/static/document/features.md"}`,
			`completion/complete {"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"E"}}`,
		},
	}, {
		name: "filesystem",
		args: func(root string) []string { return []string{root} },
		calls: []string{
			`list_allowed_directories {}`,
			`write_file {"path":"ROOT/a.txt","content":"one\ntwo\nthree\n"}`,
			`read_file {"path":"ROOT/a.txt"}`,
			`read_text_file {"path":"ROOT/a.txt","head":1}`,
			`read_media_file {"path":"ROOT/seed.png"}`,
			`read_multiple_files {"paths":["ROOT/a.txt","ROOT/none"]}`,
			`edit_file {"path":"ROOT/a.txt","edits":[{"oldText":"two","newText":"2"}],"dryRun":true}`,
			`create_directory {"path":"ROOT/d"}`,
			`move_file {"source":"ROOT/a.txt","destination":"ROOT/d/a.txt"}`,
			`list_directory {"path":"ROOT"}`,
			`list_directory_with_sizes {"path":"ROOT"}`,
			`directory_tree {"path":"ROOT"}`,
			`search_files {"path":"ROOT","pattern":"*.txt"}`,
			`get_file_info {"path":"ROOT/seed.png"}`,
			`read_file {"path":"/etc/passwd"}`,
		},
	}}
}

// steps returns the requests: the list of tools, each call, and the list again. prefix is the
// prefix of tool names.
func (s script) steps(root, prefix string) []step {
	steps := []step{{Method: "tools/list"}}
	for _, call := range s.calls {
		name, args, _ := strings.Cut(strings.ReplaceAll(call, "ROOT", root), " ")
		steps = append(steps, step{
			Method:   "tools/call",
			Params:   json.RawMessage(`{"name":"` + prefix + name + `","arguments":` + args + `}`),
			Progress: strings.HasPrefix(name, "trigger-long"),
		})
	}
	for _, request := range s.requests {
		method, params, _ := strings.Cut(request, " ")
		if method == "prompts/get" {
			params = strings.Replace(params, `{"name":"`, `{"name":"`+prefix, 1)
		}
		params = strings.Replace(params, `"ref/prompt","name":"`, `"ref/prompt","name":"`+prefix, 1)
		steps = append(steps, step{Method: method, Params: json.RawMessage(params)})
	}
	return append(steps, step{Method: "tools/list"})
}

// world creates the directory for a run, which is new but has the same path each time.
func world(t *testing.T, root string) {
	t.Helper()
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	seed := filepath.Join(root, "seed.png")
	for _, err := range []error{
		os.RemoveAll(root),
		os.MkdirAll(root, 0o755),
		os.WriteFile(seed, []byte("\x89PNG"), 0o600),
		os.Chtimes(seed, old, old),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// server starts what the script communicates with, and returns its endpoint.
func (s script) server(t *testing.T, npm, root string, http bool) endpoint {
	main := filepath.Join(npm, "node_modules/@modelcontextprotocol/server-"+s.name+"/dist/index.js")
	e := endpoint{Command: "node", Args: append([]string{main}, s.args(root)...), Env: environment(t)}
	if !http {
		return e
	}
	port := freePort(t)
	e.Args[1], e.Env["PORT"] = "streamableHttp", port
	start(t, e, port)
	return endpoint{URL: "http://127.0.0.1:" + port + "/mcp"}
}

// rules is a policy that examines every call but refuses none of those made here.
const rules = `limit echo to 1000000 per session
require read_file before no-such-tool
block no-such-tool
map echo.message zzz as no-such-tool
limit get-sum to 1000 per echo
`

// wrap starts petrigate in front of upstream.
func wrap(t *testing.T, binary string, upstream endpoint, http bool) endpoint {
	file := filepath.Join(t.TempDir(), "policy.rules")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"wrap", "--rules", file}
	if upstream.URL != "" {
		args = append(args, "--url", upstream.URL)
	}
	e := endpoint{Command: binary, Env: ours(t)}
	if http {
		port := freePort(t)
		args = append(args, "--http", "127.0.0.1:"+port, "--auth", "none")
		e.Args = withCommand(args, upstream)
		start(t, e, port)
		return endpoint{URL: "http://127.0.0.1:" + port + "/mcp"}
	}
	e.Args = withCommand(args, upstream)
	return e
}

func withCommand(args []string, upstream endpoint) []string {
	if upstream.Command == "" {
		return args
	}
	return append(append(args, "--"), upstream.argv()...)
}

func TestWrapIsTransparent(t *testing.T) {
	t.Parallel()
	binary, npm := need(t)
	for _, s := range scripts() {
		for _, upHTTP := range []bool{false, true} {
			if upHTTP && !s.http {
				continue
			}
			root := filepath.Join(t.TempDir(), "root")
			direct := map[bool][]answer{}
			for _, d := range drivers(npm)[:2] {
				world(t, root)
				e := s.server(t, npm, root, upHTTP)
				direct[d.name == "typescript"] = d.run(t, e, s.steps(root, ""))
			}
			for _, frontHTTP := range []bool{false, true} {
				for _, d := range drivers(npm) {
					t.Run(strings.Join([]string{s.name, kind(frontHTTP), kind(upHTTP), d.name}, "/"), func(t *testing.T) {
						world(t, root)
						e := wrap(t, binary, s.server(t, npm, root, upHTTP), frontHTTP)
						got := d.run(t, e, s.steps(root, ""))
						compare(t, s.steps(root, ""), got, direct[d.name == "typescript"], d.modern)
					})
				}
			}
		}
	}
}

func kind(http bool) string {
	if http {
		return "http"
	}
	return "stdio"
}

// compare compares the answers received through petrigate with those received without it.
func compare(t *testing.T, steps []step, got, want []answer, modern bool) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d", len(got), len(want))
	}
	for i, s := range steps {
		g, w := got[i], want[i]
		if s.Method == "tools/list" && g.Error == nil && w.Error == nil {
			g.Result, w.Result = tools(t, g.Result), tools(t, w.Result)
		}
		if list, ok := strings.CutSuffix(s.Method, "/list"); ok && (list == "prompts" || list == "resources") {
			g.Result = items(t, g.Result, list, "")
			w.Result = items(t, w.Result, list, "")
		}
		if modern && strings.Contains(string(g.Error), "-32021") && strings.Contains(string(w.Result), "requires task augmentation") {
			continue // each revision family has its own way to refuse a call that requires a task
		}
		for _, pair := range [][2]json.RawMessage{{g.Result, w.Result}, {g.Error, w.Error}} {
			a, b := steady(pair[0]), steady(pair[1])
			if modern && s.Method != "tools/list" {
				a, b = older(t, a), older(t, b)
			}
			if !bytes.Equal(a, b) {
				t.Errorf("%s %s:\n got %s\nwant %s", s.Method, s.Params, a, b)
			}
		}
		// The TypeScript client drops progress that it reads together with the result, so that even
		// its direct runs may lack progress notifications. The steps are long enough for a busy machine
		// to read the first notification before the result.
		if g.Progress == 0 && w.Progress > 0 {
			t.Errorf("%s %s: %d progress notifications, want %d", s.Method, s.Params, g.Progress, w.Progress)
		}
	}
}

// items returns the named list in a result, without petrigate's own items and without prefixes in
// names.
func items(t *testing.T, result json.RawMessage, list, prefix string) json.RawMessage {
	t.Helper()
	var r map[string]json.RawMessage
	var all, kept []json.RawMessage
	if json.Unmarshal(result, &r) != nil || json.Unmarshal(r[list], &all) != nil {
		return result
	}
	for _, item := range all {
		if !bytes.Contains(item, []byte(`"name":"petrigate-status"`)) {
			kept = append(kept, bytes.Replace(item, []byte(`"name":"`+prefix), []byte(`"name":"`), 1))
		}
	}
	out, err := json.Marshal(map[string]any{list: kept})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tools returns the unmodified array of tools in a tools/list result.
func tools(t *testing.T, result json.RawMessage) json.RawMessage {
	t.Helper()
	var r struct {
		Tools      json.RawMessage `json:"tools"`
		NextCursor string          `json:"nextCursor"`
	}
	if err := json.Unmarshal(result, &r); err != nil || r.NextCursor != "" {
		t.Fatalf("no whole list of tools: %s (%v)", result, err)
	}
	return r.Tools
}

// steady replaces everything that differs in each run.
func steady(b []byte) []byte {
	for _, pattern := range []string{
		`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, // a session
		`\d{1,2}:\d{2}:\d{2}( [AP]M)?`,                                 // the time of day
		`accessed: [^\\]*`,                                             // of a file
		`pg-\d+`,                                                       // the directory of a test
	} {
		b = regexp.MustCompile(pattern).ReplaceAll(b, []byte("*"))
	}
	return environ(b)
}

// environ sorts the variables in the result of get-env, and drops those that depend on how a
// program was started.
func environ(b []byte) []byte {
	var r struct {
		Content []struct{ Type, Text string }
	}
	if !bytes.Contains(b, []byte(`\"PATH\":`)) || json.Unmarshal(b, &r) != nil || len(r.Content) != 1 {
		return b
	}
	var env map[string]string
	if json.Unmarshal([]byte(r.Content[0].Text), &env) != nil {
		return b
	}
	for _, name := range []string{"GORACE", "LOGNAME", "SHELL", "TERM", "USER", "XDG_RUNTIME_DIR"} {
		delete(env, name)
	}
	return []byte(strings.Join(slices.Sorted(maps.Keys(env)), " "))
}

// older removes from a result what the newer revision family adds, and sorts the rest.
func older(t *testing.T, b []byte) []byte {
	t.Helper()
	var r map[string]json.RawMessage
	if json.Unmarshal(b, &r) != nil {
		return b
	}
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(r["_meta"], &meta)
	delete(meta, "io.modelcontextprotocol/serverInfo")
	for _, name := range []string{"resultType", "ttlMs", "cacheScope"} {
		delete(r, name)
	}
	if len(meta) == 0 {
		delete(r, "_meta")
	}
	out, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
