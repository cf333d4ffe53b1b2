package clientcfg

import (
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/list"
)

func cursor() Client {
	return Client{
		Name: "cursor", Limits: Limits{40, "makes worse choices with more", 60 - len("petrigate_")}, Title: "Cursor", Format: splice.JSON,
		Files: inHome(".cursor/mcp.json"), Place: mcpServers,
		dialect: dialect{unit: milliseconds, variables: editorVariables},
		entry:   stdio("url", "headers"), programs: []string{"cursor"}, folders: []string{"/cursor.app/contents/macos/"},
		Verify: "Look at Cursor Settings, MCP: petrigate has a green dot.",
	}
}

func vscode() Client {
	c := vscodeAt("Code")
	c.Name, c.Title, c.Aliases = "vscode", "VS Code", []string{"code", "vs-code", "copilot"}
	c.programs, c.folders = []string{"code"}, []string{"/visual studio code.app/contents/macos/"}
	return c
}

func vscodeInsiders() Client {
	c := vscodeAt("Code - Insiders")
	c.Name, c.Title, c.Aliases = "vscode-insiders", "VS Code Insiders", []string{"code-insiders", "insiders"}
	c.programs, c.folders = []string{"code-insiders", "code - insiders"}, []string{"/visual studio code - insiders.app/contents/macos/"}
	return c
}

// vscodeAt returns the client for VS Code, or for a variant of it, with settings in the given
// directory. Only VS Code itself has a second configuration file, for remote windows.
func vscodeAt(folder string) Client {
	return Client{
		Format: splice.JSON,
		Limits: Limits{128, "refuses requests with more, including its own", 64},
		Files: func(s System) []string {
			all := []string{s.path(s.settings(), folder, "User", "mcp.json")}
			if folder == "Code" && s.OS != "windows" {
				all = append(all, s.path(s.Home, ".vscode-server/data/User/mcp.json"))
			}
			return all
		},
		Place:   splice.Place{Path: []string{"servers"}},
		dialect: dialect{unit: milliseconds, variables: editorVariables},
		entry:   typedStdio,
		Verify:  "Run the command MCP: List Servers: petrigate is listed. Start it.",
	}
}

func windsurf() Client {
	return Client{
		Name: "windsurf", Limits: Limits{100, "ignores the rest", 64}, NoForms: true, Title: "Windsurf", Format: splice.JSON,
		Files: inHome(".codeium/windsurf/mcp_config.json"), Place: mcpServers,
		dialect: dialect{unit: milliseconds, variables: windsurfVariables},
		entry:   stdio("serverUrl", "headers"), programs: []string{"windsurf"}, folders: []string{"/windsurf.app/contents/macos/"},
		Verify: "Press Refresh in Cascade's MCP panel: petrigate is listed.",
	}
}

func cline() Client {
	return Client{
		Name: "cline", NoForms: true, Title: "Cline", Format: splice.JSON,
		Files: func(s System) []string {
			return list.Map([]string{"Code", "Code - Insiders", "Cursor", "Windsurf"}, func(editor string) string {
				return s.path(s.settings(), editor, "User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json")
			})
		},
		Place:   mcpServers,
		dialect: dialect{unit: seconds, variables: editorVariables},
		entry:   stdio("url", "headers", splice.Member{Key: "type", Value: "streamableHttp"}),
		Verify:  "Open MCP Servers in Cline: petrigate has a green dot.",
	}
}

func zed() Client {
	return Client{
		Name: "zed", NoForms: true, Title: "Zed", Format: splice.JSON,
		Files: func(s System) []string {
			if s.OS == "windows" {
				return []string{s.path(s.settings(), "Zed", "settings.json")}
			}
			return []string{s.path(s.xdg(), "zed", "settings.json")}
		},
		Place:   splice.Place{Path: []string{"context_servers"}},
		dialect: dialect{unit: zedTimeout},
		entry: func(l Launch) splice.Object {
			o := stdio("url", "headers")(l)
			if l.URL == "" {
				o = append(o, splice.Member{Key: "env", Value: splice.Object{}})
			}
			return o
		},
		programs: []string{"zed", "zed-editor"}, folders: []string{"/zed.app/contents/macos/"},
		Verify: "Open the agent panel settings in Zed: petrigate has a green dot.",
	}
}

func lmStudio() Client {
	return Client{
		Name: "lm-studio", Title: "LM Studio", Aliases: []string{"lmstudio"}, Format: splice.JSON,
		Files: func(s System) []string {
			return []string{s.path(s.Home, ".lmstudio/mcp.json"), s.path(s.Home, ".cache/lm-studio/mcp.json")}
		},
		Place:   mcpServers,
		dialect: dialect{unit: milliseconds},
		entry:   stdio("url", "headers"), programs: []string{"lm-studio", "lm studio"}, folders: []string{"/lm studio.app/contents/macos/"},
		Verify: "Open LM Studio's Program tab: mcp/petrigate is listed.",
	}
}

func continueDev() Client {
	return Client{
		Name: "continue", NoForms: true, Title: "Continue", Format: splice.YAML,
		Files:   inHome(".continue/config.yaml"),
		Place:   splice.Place{Path: []string{"mcpServers"}, Named: "name"},
		dialect: dialect{unit: milliseconds, variables: continueVariables},
		entry: func(l Launch) splice.Object {
			if l.URL == "" {
				return stdio("url", "headers")(l)
			}
			o := remote(Launch{URL: l.URL}, "url", "", splice.Member{Key: "type", Value: "streamable-http"})
			if len(l.Headers) > 0 {
				o = append(o, splice.Member{Key: "requestOptions", Value: splice.Object{{Key: "headers", Value: l.Headers}}})
			}
			return o
		},
		Verify: "Reload Continue, and look at Tools: petrigate's tools are listed.",
	}
}
