package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// forGit matches files that git obeys by their names: its own, hooks, and its configuration.
var forGit = regexp.MustCompile(`(^|/)(\.git|\.gitattributes|\.gitmodules|\.gitconfig|git/config)(/|$)|(^|/)(\.husky|\.?git-?hooks|hooks)(/|$)|(^|/)(lefthook[^/]*|\.pre-commit-config\.ya?ml|(pre|post|prepare|commit|update|applypatch|fsmonitor)-[a-z-]+)$`)

// isForGit reports whether git may obey a file with this name.
func isForGit(name string) bool { return forGit.MatchString(path.Clean(name)) }

// sourceEnds are the ends of files of a project whose text no program runs, but for a tool that one sets up: namesTool.
// Files of programming languages are missing: an interpreter, or go test, runs them unnamed.
var (
	sourceEnds = setOf(`.sql .css .scss .less .html .json .jsonc .yml .yaml .xml .proto .graphql .svg .tf .tfvars .dockerfile .snap`)
	namesTool  = regexp.MustCompile(`(^|/)(\.[^/]*|package\.json|composer\.json|[a-z]+file\.ya?ml|[^/]*[.-](config|conf|setup|rc)\.[a-z]+|config\.(ya?ml|json))$`)
	ofProject  = regexp.MustCompile(`(^|/)\.(github|gitlab|circleci|vscode|devcontainer)/|(^|/)(\.gitlab-ci\.yml|\.dockerignore|\.editorconfig|\.gitignore)$`)
)

// isSource reports whether a file of a project has a text that no program of the tables runs, as a workflow or a
// Dockerfile has.
func isSource(name string) bool {
	base := path.Base(name)
	if ofProject.MatchString(name) || base == "Dockerfile" || strings.HasPrefix(base, "Dockerfile.") {
		return true
	}
	return sourceEnds[strings.ToLower(path.Ext(base))] && !namesTool.MatchString(name) && !isForGit(name)
}

// makesSources reports whether all files that a command names are sources, see [isSource].
func (c *command) makesSources() bool {
	return makers[c.name] && !slices.ContainsFunc(c.args, func(a arg) bool {
		return a.kind != literal || !strings.HasPrefix(a.text, "-") && !isSource(a.text) || strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "=")
	})
}
