package toolkind

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func ExampleKindByName() {
	fmt.Println(KindByName("list_files"), KindByName("send_mail"), KindByName("deleteUser"), KindByName("frobnicate"))
	// Output: read send destroy unclear
}

func ExampleWords() {
	fmt.Println(Words("getUser_by-ID2"))
	// Output: [get user by id]
}

func ExampleClassify() {
	g := Classify(ListedTool{Name: "read_notes", Annotations: json.RawMessage(`{"openWorldHint":true}`)}, nil)
	fmt.Println(g.Kind, g.Why)
	// Output: outside openWorldHint
}

func ExampleFindServer() {
	fmt.Println(FindServer([]string{"npx", "-y", "@modelcontextprotocol/server-memory@2026.1.0"}, nil).Name)
	// Output: memory
}

func ExampleServers() {
	fmt.Println(Servers()[0].Name, Servers()[0].Kinds["move_file"])
	// Output: filesystem destroy
}

func TestByName(t *testing.T) {
	for name, want := range map[string]Kind{
		"":                       Unclear,
		"read_text_file":         Read,
		"get-sum":                Read,
		"list_deleted_items":     Read,
		"get_shell_history":      Read,
		"getIssue":               Outside,
		"fetch":                  Outside,
		"search_mail":            Outside,
		"get_secret":             Secret,
		"printEnv":               Secret,
		"list_api_keys":          Secret,
		"list_keys":              Read,
		"delete_password":        Destroy,
		"create_secret":          Write,
		"create_directory":       Write,
		"edit_file":              Edit,
		"write_file":             Edit,
		"slack_post_message":     Send,
		"add_issue_comment":      Send,
		"get_and_delete_message": Destroy,
		"move_file":              Destroy,
		"kubectl_delete":         Destroy,
		"bash":                   Run,
		"run_tests":              Run,
		"browser_evaluate":       Run,
		"create_payment":         Pay,
		"transfer":               Pay,
		"list_transfers":         Read,
		"wire":                   Unclear,
	} {
		if got := KindByName(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestHintsOnlyAddCaution checks that hints only make a guess more cautious.
func TestHintsOnlyAddCaution(t *testing.T) {
	for _, c := range []struct {
		name, annotations string
		want              Kind
	}{
		{"list_files", `{"readOnlyHint":true}`, Read},
		{"list_files", `{"readOnlyHint":false}`, Unclear},
		{"list_files", `{"destructiveHint":true}`, Destroy},
		{"list_files", `{"openWorldHint":true}`, Outside},
		{"create_note", `{"openWorldHint":true}`, Send},
		{"edit_note", `{"destructiveHint":true}`, Destroy},
		{"edit_note", `{"destructiveHint":"x"}`, Edit},
		{"delete_note", `{"readOnlyHint":true,"destructiveHint":false}`, Destroy},
		{"frobnicate", `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`, Read},
		{"git_pull", `{"readOnlyHint":true,"openWorldHint":true}`, Outside},
		{"frobnicate", `{"readOnlyHint":true,"destructiveHint":true}`, Destroy},
		{"frobnicate", `{}`, Unclear},
		{"git_push", `{"readOnlyHint":true}`, Publish},
		{"send_mail", `{"readOnlyHint":true}`, Send},
		{"bash", `{"readOnlyHint":true}`, Run},
	} {
		if got := Classify(ListedTool{Name: c.name, Annotations: json.RawMessage(c.annotations)}, nil).Kind; got != c.want {
			t.Errorf("%s %s: %v, want %v", c.name, c.annotations, got, c.want)
		}
	}
}

// TestKnownTools checks that the list of servers takes precedence over a tool's name, and that a
// contradicting hint counts.
func TestKnownTools(t *testing.T) {
	files := FindServer([]string{"node", "/x/node_modules/.bin/mcp-server-filesystem"}, nil)
	for _, c := range []struct {
		name, annotations string
		want              Kind
	}{
		{"edit_file", `{"destructiveHint":true}`, Edit},
		{"list_directory", `{"readOnlyHint":false}`, Unclear},
		{"list_directory", `{"destructiveHint":true}`, Destroy},
		{"delete_file", ``, Destroy},
	} {
		if got := Classify(ListedTool{Name: c.name, Annotations: json.RawMessage(c.annotations)}, files).Kind; got != c.want {
			t.Errorf("%s %s: %v, want %v", c.name, c.annotations, got, c.want)
		}
	}
}

// TestUselessHintsAreIgnored checks that hints about listed tools are ignored if a server gives the
// same hints about all tools, and that hints about other tools count.
func TestUselessHintsAreIgnored(t *testing.T) {
	browser := FindServer([]string{"npx", "@playwright/mcp@latest"}, nil)
	for name, want := range map[string]Kind{"browser_navigate": Outside, "browser_click": Send, "browser_evaluate": Run, "browser_view_new": Destroy} {
		if got := Classify(ListedTool{Name: name, Annotations: json.RawMessage(`{"readOnlyHint":false,"destructiveHint":true,"openWorldHint":true}`)}, browser).Kind; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestFields(t *testing.T) {
	g := Classify(ListedTool{Name: "pay", Schema: json.RawMessage(`{"properties":{
		"path":{"type":"string"},"file_path":{"type":"string"},"old path":{"type":"string"},"user_id":{"type":"integer"},"url":{"type":"string"},
		"amount":{"type":"number"},"to":{"type":"string"},"note":{"type":"string"},"opt_id":{"type":"string"},"id":{"type":["string","null"]}},
		"required":["path","file_path","old path","user_id","url","to","note","id"]}`)}, nil)
	want := Fields{Paths: []string{"file_path", "path"}, Files: []string{"file_path", "path"}, Same: []string{"file_path", "path", "url", "user_id"}, URLs: []string{"url"}, Amounts: []string{"amount"}}
	if fmt.Sprint(g.Fields) != fmt.Sprint(want) {
		t.Errorf("%+v", g.Fields)
	}
	if g := Classify(ListedTool{Name: "frobnicate", Schema: json.RawMessage(`{"properties":{"Command":{}}}`)}, nil); g.Kind != Run {
		t.Errorf("%+v", g)
	}
	if g := Classify(ListedTool{Name: "read", Schema: json.RawMessage(`{"properties":{"url":{"type":"string"}},"required":["url"]}`)}, nil); g.Kind != Outside {
		t.Errorf("%+v", g)
	}
}

// TestFilesOfSchemas covers every way in a schema to declare that an argument names files.
func TestFilesOfSchemas(t *testing.T) {
	for schema, want := range map[string]string{
		`"path":{"type":"string"}`:                           "path",
		`"paths":{"type":"array"}`:                           "paths",
		`"paths":{"type":"array","items":{"type":"string"}}`: "paths",
		`"directories":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]}`:              "directories",
		`"file":{"type":["string","null"]}`:                                                                 "file",
		`"destination":{"type":"string"}`:                                                                   "destination",
		`"input_files":{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}`:            "input_files",
		`"files":{"type":"array","items":{"properties":{"path":{"type":"string"},"content":{}}}}`:           "$.files[*].path",
		`"edits":{"type":"array","items":{"type":"object","properties":{"sources":{"type":"array"}}}}`:      "$.edits[*].sources",
		`"paths":{"type":"array","items":{"type":"number"}},"path":{"type":"number"},"old path":{},"as":{}`: "",
		`"paths":1,"names":{"type":"array","items":{"type":"string"}}`:                                      "",
		`"x":{"type":"array","items":{"properties":{"odd path":{"type":"string"}}}}`:                        "",
	} {
		got := strings.Join(Classify(ListedTool{Name: "x", Schema: json.RawMessage(`{"properties":{` + schema + `}}`)}, nil).Fields.Files, " ")
		if got != want {
			t.Errorf("%s: %q, want %q", schema, got, want)
		}
	}
}

func TestKnown(t *testing.T) {
	for _, c := range []struct {
		start, tools []string
		want         string
	}{
		{[]string{"uvx", "mcp-server-git"}, nil, "git"},
		{[]string{"npx", "-y", "@cyanheads/git-mcp-server@2.4.0"}, nil, "git-mcp-server"},
		{[]string{"uvx", "mcp-server-github-not"}, nil, ""},
		{[]string{"docker", "run", "-i", "ghcr.io/github/github-mcp-server:1.2"}, nil, "github"},
		{[]string{"https://api.githubcopilot.com/mcp/"}, nil, "github"},
		{[]string{"./x"}, []string{"slack_post_message", "slack_list_channels"}, "slack"},
		{[]string{"./x"}, []string{"slack_post_message"}, ""},
		{nil, nil, ""},
	} {
		got := ""
		if s := FindServer(c.start, c.tools); s != nil {
			got = s.Name
		}
		if got != c.want {
			t.Errorf("%v %v: %q, want %q", c.start, c.tools, got, c.want)
		}
	}
}

// TestServerListIsUsable checks that every server in the list can be recognized and that every line
// has an effect.
func TestServerListIsUsable(t *testing.T) {
	for _, s := range Servers() {
		if len(s.By) == 0 || len(s.Kinds) == 0 {
			t.Errorf("%s: %+v", s.Name, s)
		}
		for _, tool := range s.Like {
			if s.Kinds[tool] == Unclear {
				t.Errorf("%s has no tool %s", s.Name, tool)
			}
		}
	}
	const want = "line %d of the list of servers: write server NAME, by, like, hints ignored or a kind, and what belongs to it"
	for text, line := range map[string]int{"read x": 1, "server a\nodd x": 2, "server a\n\nread # x": 3, "server a b": 1, "server a\nunclear x": 2, "server a\nhints believed": 2} {
		if _, err := parseServers(text); err == nil || err.Error() != fmt.Sprintf(want, line) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func ExampleIsPlain() {
	fmt.Println(IsPlain("path"), IsPlain("to"), IsPlain("as"), IsPlain("a b"))
	// Output: true true false false
}

func ExampleIsAmount() {
	fmt.Println(IsAmount("total_amount"), IsAmount("amount_of_text"))
	// Output: true false
}
