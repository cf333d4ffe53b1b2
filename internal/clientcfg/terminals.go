package clientcfg

import "github.com/petrigate/petrigate/internal/clientcfg/splice"

func codex() Client {
	return Client{
		Name: "codex", Limits: Limits{NameLength: 64 - len("mcp__petrigate__")}, Title: "Codex", Format: splice.TOML,
		Files:   inDirectory("CODEX_HOME", ".codex", "config.toml"),
		Place:   splice.Place{Path: []string{"mcp_servers"}},
		dialect: dialect{unit: seconds},
		entry:   stdio("url", "http_headers"), programs: []string{"codex"},
		Verify: "Run codex mcp list: petrigate is listed.",
	}
}

func gemini() Client {
	return Client{
		Name: "gemini", Limits: Limits{NameLength: 63 - len("mcp_petrigate_")}, NoForms: true, Title: "Gemini CLI", Aliases: []string{"gemini-cli"}, Format: splice.JSON,
		Files: inHome(".gemini/settings.json"), Place: mcpServers,
		dialect: dialect{unit: milliseconds, variables: geminiVariables, urlIsSSE: true},
		guards:  geminiGuards,
		entry:   stdio("httpUrl", "headers"), programs: []string{"gemini"}, folders: []string{"/gemini-cli/", `\gemini-cli\`},
		Verify: "Run gemini mcp list: petrigate is connected.",
	}
}

func goose() Client {
	return Client{
		Name: "goose", Title: "goose", Format: splice.YAML,
		Files: func(s System) []string {
			if s.OS == "windows" {
				return []string{s.path(s.settings(), `Block\goose\config\config.yaml`)}
			}
			return []string{s.path(s.xdg(), "goose/config.yaml")}
		},
		Place:   splice.Place{Path: []string{"extensions"}},
		dialect: dialect{unit: seconds, headers: gooseHeaders, native: []string{"builtin", "platform", "frontend", "inline_python"}},
		guards:  gooseGuards,
		entry: func(l Launch) splice.Object {
			front := splice.Object{{Key: "name", Value: "petrigate"}, {Key: "enabled", Value: true}}
			if l.URL != "" {
				o := append(front, splice.Member{Key: "type", Value: "streamable_http"}, splice.Member{Key: "uri", Value: l.URL})
				if len(l.Headers) > 0 {
					o = append(o, splice.Member{Key: "headers", Value: l.Headers})
				}
				return append(o, splice.Member{Key: "timeout", Value: 300})
			}
			return append(front, splice.Member{Key: "type", Value: "stdio"}, splice.Member{Key: "cmd", Value: l.Command},
				splice.Member{Key: "args", Value: l.Args}, splice.Member{Key: "envs", Value: splice.Object{}}, splice.Member{Key: "timeout", Value: 300})
		},
		programs: []string{"goose", "goosed"}, folders: []string{"/goose.app/contents/macos/"},
		Verify: "Start goose session, and ask for its extensions: petrigate is listed.",
	}
}

func opencode() Client {
	return Client{
		Name: "opencode", NoForms: true, Title: "OpenCode", Format: splice.JSON,
		Files: func(s System) []string {
			dir := s.path(s.xdg(), "opencode")
			if local := s.env("LOCALAPPDATA"); s.OS == "windows" && local != "" {
				dir = s.path(local, "opencode")
			}
			return []string{s.path(dir, "opencode.jsonc"), s.path(dir, "opencode.json")}
		},
		Place:   splice.Place{Path: []string{"mcp"}},
		dialect: dialect{unit: milliseconds, variables: opencodeVariables},
		guards:  opencodeGuards,
		entry: func(l Launch) splice.Object {
			if l.URL != "" {
				return append(remote(l, "url", "headers", splice.Member{Key: "type", Value: "remote"}), splice.Member{Key: "enabled", Value: true})
			}
			return splice.Object{{Key: "type", Value: "local"}, {Key: "command", Value: append([]string{l.Command}, l.Args...)}, {Key: "enabled", Value: true}}
		},
		programs: []string{"opencode"},
		Verify:   "Run opencode mcp list: petrigate is connected.",
	}
}
