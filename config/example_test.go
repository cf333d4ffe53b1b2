package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/config"
)

func ExampleParse() {
	src := `
mcpServers:
  files:
    command: npx
    args: ["-y", "@modelcontextprotocol/server-filesystem", "${DIR:-/srv}"]
rules:
  - inline: |
      require backup before delete
approval: { hold: 30s }
`
	none := func(string) (string, bool) { return "", false }
	c, err := config.Parse("petrigate.yaml", []byte(src), config.Options{Env: none})
	if err != nil {
		fmt.Println(config.Text(err))
		return
	}
	fmt.Println(c.Servers[0].Name, c.Servers[0].Args)
	fmt.Println(c.Rules[0].Position(1, 9), c.Approval.Hold, c.Default)
	// Output:
	// files [-y @modelcontextprotocol/server-filesystem /srv]
	// petrigate.yaml:8:15 30s allow
}

func ExampleText() {
	src := "rulse:\n  - inline: block rm\ndefault: ask\n"
	_, err := config.Parse("petrigate.yaml", []byte(src), config.Options{})
	fmt.Println(config.Text(err))
	// Output:
	// petrigate.yaml:1:1: unknown key "rulse" in the configuration (did you mean "rules"?)
	//     rulse:
	//     ^
	// petrigate.yaml:3:10: "default": "ask" is not supported yet (supported: allow, deny)
	//     default: ask
	//              ^
}

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "config")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "petrigate.yaml")
	if err := os.WriteFile(path, []byte("mcpServers: {}\nlog: { level: info }\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	c, err := config.Load(config.Options{Path: path, Flags: map[string]string{"log.level": "debug"}})
	fmt.Println(c.Log.Level, err)
	// Output: debug <nil>
}

func ExampleServers() {
	dir, err := os.MkdirTemp("", "config")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "petrigate.yaml")
	src := "mcpServers:\n  notes: { url: 'https://notes.example/mcp' }\n  hosted: { url: '${HOSTED}' }\naudit: { file: '${AUDIT}' }\n"
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	_, servers, err := config.Servers(config.Options{Path: path, Env: func(string) (string, bool) { return "", false }})
	for _, s := range servers {
		fmt.Println(s.Name, len(s.Problems))
	}
	fmt.Println(err)
	// Output:
	// notes 0
	// hosted 1
	// <nil>
}

func ExampleParseNet() {
	nets, err := config.ParseNet("lock.net.yaml", []byte(`
name: lock
places: [free, held]
initialMarking: { free: 1 }
transitions:
  - { name: take, inputs: [free], outputs: [held], tools: [lock], deferred: true }
  - { name: give, inputs: [hold], outputs: [free], tools: [unlock] }
`))
	fmt.Println(len(nets))
	fmt.Println(err)
	// Output:
	// 0
	// lock.net.yaml:7:28: unknown place "hold" (did you mean "held"?)
}

func ExampleVariable() {
	fmt.Println(config.Variable("listen.tokenFile"))
	// Output: PETRIGATE_LISTEN_TOKEN_FILE
}

func ExampleSchema() {
	first, _, _ := strings.Cut(config.Schema(), ",")
	fmt.Println(first)
	// Output:
	// {
	//   "$schema": "https://json-schema.org/draft/2020-12/schema"
}

func ExampleNetSchema() {
	fmt.Println(strings.Contains(config.NetSchema(), `"$ref": "#/$defs/netFile"`))
	// Output: true
}
