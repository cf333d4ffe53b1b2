package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serve writes a configuration and starts petrigate with it. settings contains the members other
// than mcpServers.
func serve(t *testing.T, binary string, upstreams map[string]endpoint, settings map[string]any, http bool) endpoint {
	t.Helper()
	return serveIn(t, binary, ours(t), upstreams, settings, http)
}

// serveIn is like serve but uses the given environment, which other commands need in order to find
// the proxy.
func serveIn(t *testing.T, binary string, env map[string]string, upstreams map[string]endpoint, settings map[string]any, http bool) endpoint {
	t.Helper()
	servers := map[string]any{}
	for name, e := range upstreams {
		servers[name] = map[string]any{"url": e.URL}
		if e.URL == "" {
			servers[name] = map[string]any{"command": e.Command, "args": e.Args}
		}
	}
	config := map[string]any{"version": 1, "mcpServers": servers}
	for k, v := range settings {
		config[k] = v
	}
	port := freePort(t)
	if http {
		config["listen"] = map[string]any{"http": "127.0.0.1:" + port, "auth": "none"}
	}
	b, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "petrigate.yaml") // JSON is also YAML
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	e := endpoint{Command: binary, Args: []string{"serve", "--config", file}, Env: env}
	if !http {
		return e
	}
	start(t, e, port)
	return endpoint{URL: "http://127.0.0.1:" + port + "/mcp"}
}

func TestServeIsTransparent(t *testing.T) {
	t.Parallel()
	binary, npm := need(t)
	root := filepath.Join(t.TempDir(), "root")
	// If there are several servers, rules must say which server's tool counts as evidence.
	qualified := strings.NewReplacer("require read_file", "require filesystem.read_file", "per echo", "per everything.echo").Replace(rules)
	settings := map[string]any{
		"rules": []any{map[string]any{"inline": qualified}},
		"audit": map[string]any{"file": filepath.Join(t.TempDir(), "audit.jsonl")},
	}
	for _, s := range scripts() {
		direct := map[bool][]answer{}
		for _, d := range drivers(npm)[:2] {
			world(t, root)
			direct[d.name == "typescript"] = d.run(t, s.server(t, npm, root, false), s.steps(root, ""))
		}
		for _, frontHTTP := range []bool{false, true} {
			for _, d := range drivers(npm) {
				t.Run(s.name+"/"+kind(frontHTTP)+"/"+d.name, func(t *testing.T) {
					world(t, root)
					upstreams := map[string]endpoint{}
					for _, other := range scripts() {
						upstreams[other.name] = other.server(t, npm, root, false)
					}
					prefix := s.name + "_"
					steps := s.steps(root, prefix)
					got := d.run(t, serve(t, binary, upstreams, settings, frontHTTP), steps)
					for i := range got {
						if steps[i].Method == "tools/list" {
							got[i].Result = unprefixed(t, got[i].Result, prefix)
						}
						if steps[i].Method == "prompts/list" {
							got[i].Result = items(t, got[i].Result, "prompts", prefix)
						}
					}
					compare(t, steps, got, direct[d.name == "typescript"], d.modern)
				})
			}
		}
	}
}

// unprefixed returns the tools whose names begin with prefix, after removing the prefix.
func unprefixed(t *testing.T, result json.RawMessage, prefix string) json.RawMessage {
	t.Helper()
	var all []json.RawMessage
	if err := json.Unmarshal(tools(t, result), &all); err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, tool := range all {
		if bytes.Contains(tool, []byte(`"name":"`+prefix)) {
			ours = append(ours, strings.Replace(string(tool), `"name":"`+prefix, `"name":"`, 1))
		}
	}
	return json.RawMessage(`{"tools":[` + strings.Join(ours, ",") + `]}`)
}

func TestRefusalsReachNoServer(t *testing.T) {
	binary, npm := need(t)
	root := filepath.Join(t.TempDir(), "root")
	call := func(name, args string) step {
		return step{Method: "tools/call", Params: json.RawMessage(`{"name":"` + name + `","arguments":` + strings.ReplaceAll(args, "ROOT", root) + `}`)}
	}
	steps := []step{
		call("move_file", `{"source":"ROOT/seed.png","destination":"ROOT/gone"}`), // refused: nothing was read
		call("read_text_file", `{"path":"ROOT/none"}`),                            // fails, and so unlocks nothing
		call("move_file", `{"source":"ROOT/seed.png","destination":"ROOT/gone"}`), // refused
		call("create_directory", `{"path":"ROOT/blocked"}`),                       // refused: blocked
		call("read_text_file", `{"path":"ROOT/seed.png"}`),                        // succeeds
		call("move_file", `{"source":"ROOT/seed.png","destination":"ROOT/moved"}`),
		call("move_file", `{"source":"ROOT/moved","destination":"ROOT/again"}`), // refused: one for each read
	}
	settings := map[string]any{"rules": "require read_text_file before move_file\nblock create_directory\n"}
	fails := []bool{true, true, true, true, false, false, true}
	for _, frontHTTP := range []bool{false, true} {
		for _, d := range drivers(npm) {
			t.Run(kind(frontHTTP)+"/"+d.name, func(t *testing.T) {
				world(t, root)
				upstream := map[string]endpoint{"files": scripts()[1].server(t, npm, root, false)}
				for i, a := range d.run(t, serve(t, binary, upstream, settings, frontHTTP), steps) {
					if got := isError(t, a); got != fails[i] {
						t.Errorf("%s: error %t, want %t: %s%s", steps[i].Params, got, fails[i], a.Result, a.Error)
					}
				}
				left, err := filepath.Glob(filepath.Join(root, "*"))
				if err != nil || len(left) != 1 || filepath.Base(left[0]) != "moved" {
					t.Errorf("the directory holds %q (%v)", left, err)
				}
			})
		}
	}
}

func isError(t *testing.T, a answer) bool {
	t.Helper()
	var r struct {
		IsError bool `json:"isError"`
	}
	if a.Error != nil {
		t.Errorf("error instead of a result: %s", a.Error)
	} else if err := json.Unmarshal(a.Result, &r); err != nil {
		t.Error(err)
	}
	return r.IsError
}
