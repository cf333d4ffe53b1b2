package shell

import (
	"path"
	"regexp"
	"strings"
)

// forGit matches files that git obeys because of their names: its own files, hooks and
// configuration.
var forGit = regexp.MustCompile(`(^|/)(\.git|\.gitattributes|\.gitmodules|\.gitconfig|git/config)(/|$)|(^|/)(\.husky|\.?git-?hooks|hooks)(/|$)|(^|/)(lefthook[^/]*|\.pre-commit-config\.ya?ml|(pre|post|prepare|commit|update|applypatch|fsmonitor)-[a-z-]+)$`)

// isForGit reports whether git may obey a file with this name.
func isForGit(name string) bool { return forGit.MatchString(path.Clean(name)) }

// sourceEnds are extensions of project files that no program runs as code, unless the file
// configures a tool (namesTool). Files in programming languages are missing, because an interpreter
// or go test may run them without naming them. ofProject matches files that only services and
// editors read.
var (
	sourceEnds = setOf(`.sql .css .scss .less .html .json .jsonc .yml .yaml .xml .proto .graphql .svg .tf .tfvars .dockerfile .snap`)
	namesTool  = regexp.MustCompile(`(^|/)(\.[^/]*|package\.json|composer\.json|[a-z]+file\.ya?ml|[^/]*[.-](config|conf|setup|rc)\.[a-z]+|config\.(ya?ml|json))$`)
	ofProject  = regexp.MustCompile(`(^|/)\.(github|gitlab|circleci|vscode|devcontainer)/|(^|/)(\.gitlab-ci\.yml|\.dockerignore|\.editorconfig|\.gitignore)$`)
)

// isSource reports whether a project file contains nothing that a program in the tables runs, as
// with a CI workflow or a Dockerfile.
func isSource(name string) bool {
	base := path.Base(name)
	if ofProject.MatchString(name) || base == "Dockerfile" || strings.HasPrefix(base, "Dockerfile.") {
		return true
	}
	return sourceEnds[strings.ToLower(path.Ext(base))] && !namesTool.MatchString(name) && !isForGit(name)
}
