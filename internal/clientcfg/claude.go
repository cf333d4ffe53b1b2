package clientcfg

import (
	"path/filepath"
	"runtime"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/list"
)

func claudeDesktop() Client {
	return Client{
		Name: "claude-desktop", Limits: Limits{NameLength: 64}, NoForms: true, Title: "Claude Desktop", Aliases: []string{"claudedesktop"},
		Format: splice.JSON,
		Files: func(s System) []string {
			file := s.path(s.settings(), "Claude", "claude_desktop_config.json")
			if s.OS == "windows" {
				return append(storePackageFiles(s), file)
			}
			return []string{file, s.path(s.settings(), "claude", "claude_desktop_config.json")}
		},
		Place:   mcpServers,
		dialect: dialect{unit: milliseconds},
		entry: func(l Launch) splice.Object {
			if l.URL != "" {
				return nil
			}
			return stdio("url", "headers")(l)
		},
		programs: []string{"claude-desktop"}, folders: []string{"/claude.app/contents/macos/claude", `\windowsapps\claude_`, `\anthropicclaude\`},
		Overwrites: true,
		Verify:     "Start Claude Desktop, and look at Settings, Developer: petrigate is running.",
	}
}

// storePackageFiles returns the paths of Claude Desktop's configuration file for installations from
// the Microsoft Store. Such an installation has its own AppData directory.
func storePackageFiles(s System) []string {
	if runtime.GOOS != "windows" || s.env("LOCALAPPDATA") == "" {
		return nil
	}
	found, _ := filepath.Glob(s.path(s.env("LOCALAPPDATA"), "Packages", "Claude_*", "LocalCache", "Roaming", "Claude", "claude_desktop_config.json")) // cannot fail: the pattern is valid
	return found
}

func claudeCode() Client {
	return Client{
		Name: "claude-code", Limits: Limits{NameLength: 128 - len("mcp__petrigate__")}, Title: "Claude Code", Aliases: []string{"claude", "claudecode"},
		Format: splice.JSON,
		Files:  claudeFiles,
		Place:  mcpServers,
		morePlaces: func(d *splice.Document) []splice.Place {
			return list.Map(d.Keys("projects"), func(project string) splice.Place {
				return splice.Place{Path: []string{"projects", project, "mcpServers"}}
			})
		},
		dialect:  dialect{unit: milliseconds, variables: shellVariables},
		guards:   claudeGuards,
		entry:    typedStdio,
		programs: []string{"claude"}, folders: []string{"/claude-code/", `\claude-code\`},
		Overwrites: true,
		Verify:     "Start claude, and type /mcp: petrigate is connected.",
	}
}
