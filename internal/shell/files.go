package shell

import (
	"path"
	"regexp"
	"strings"
)

// A fileUse records the files that a script writes and the files that it runs. It is used to find
// out whether the script may run a program that it has written itself.
type fileUse struct {
	written  set  // base names of files written by redirections
	programs set  // base names of files run by shells and interpreters
	system   set  // base names of files written to the system's program directories
	unknown  bool // a redirection writes to a file whose name is not literal

	// Some commands act on files that no argument names, such as tests, hooks, modules and
	// configuration files. The following fields describe the files of this kind that the script has
	// written.
	writing bool  // the current list of commands writes a file
	obeying bool  // a program may act on a written file that no argument names
	git     bool  // git may act on a written file that no argument names
	after   int   // 1 plus the number of commands before the first write to a file that a program may act on; 0 if the script writes no such file
	dashed  bool  // the script creates a file whose name looks like an option, so a program may take it for one
	loops   bool  // the script has a loop or a function, so any command may run before and after any other
	texts   []arg // here documents and here strings in the current list
	data    []arg // text written to files
	pkg     []int // indexes of the commands that change package.json, such as npm pkg set
	writer  set   // names of the programs whose output is written to files
}

var inertFiles = setOf(".log .txt .md .csv .tsv .out .err .html .diff .patch")

// isInertFile reports whether a file with this name is inert, that is, whether programs ignore it.
func isInertFile(name string) bool {
	return inertFiles[strings.ToLower(path.Ext(name))] && path.Base(name) != "CMakeLists.txt" || strings.HasPrefix(name, "/dev/")
}

// gitFiles matches files that git acts on because of their names: its own files, hooks and
// configuration.
var gitFiles = regexp.MustCompile(`(^|/)(\.git|\.gitattributes|\.gitmodules|\.gitconfig|git/config)(/|$)|(^|/)(\.husky|\.?git-?hooks|hooks)(/|$)|(^|/)(lefthook[^/]*|\.pre-commit-config\.ya?ml|(pre|post|prepare|commit|update|applypatch|fsmonitor)-[a-z-]+)$`)

// isGitFile reports whether git may act on a file with this name.
func isGitFile(name string) bool { return gitFiles.MatchString(path.Clean(name)) }

// isSource uses these variables to recognize project files that no program runs as code.
// sourceExtensions lists the extensions of such files. It contains no extensions of programming
// languages, because an interpreter or go test may run a file that no argument names. namesTool
// matches files that configure a tool, such as package.json. These files do not count as sources,
// even if their extension is listed. ofProject matches files that always count as sources, such as
// CI workflows, editor settings and ignore files.
var (
	sourceExtensions = setOf(`.sql .css .scss .less .html .json .jsonc .yml .yaml .xml .proto .graphql .svg .tf .tfvars .dockerfile .snap`)
	namesTool        = regexp.MustCompile(`(^|/)(\.[^/]*|package\.json|composer\.json|[a-z]+file\.ya?ml|[^/]*[.-](config|conf|setup|rc)\.[a-z]+|config\.(ya?ml|json))$`)
	ofProject        = regexp.MustCompile(`(^|/)\.(github|gitlab|circleci|vscode|devcontainer)/|(^|/)(\.gitlab-ci\.yml|\.dockerignore|\.editorconfig|\.gitignore)$`)
)

// isSource reports whether a file with this name belongs to a project but contains no code that the
// programs known to this package run. Examples are style sheets, CI workflows and Dockerfiles.
func isSource(name string) bool {
	base := path.Base(name)
	if ofProject.MatchString(name) || base == "Dockerfile" || strings.HasPrefix(base, "Dockerfile.") {
		return true
	}
	return sourceExtensions[strings.ToLower(path.Ext(base))] && !namesTool.MatchString(name) && !isGitFile(name)
}

// relativeDevices matches paths of devices relative to a directory. The directory may be the root,
// as in `cd /; bash dev/stdin`.
var relativeDevices = regexp.MustCompile(`^(\.\./)*(dev/(std(in|out|err)|fd|tty|pts|null|zero|full|u?random|tcp|udp|shm)|proc/(self|thread-self|[0-9]+))(/|$)`)

// isDevice reports whether arg names anything in /dev or /proc, such as /dev/null or of=/dev/sda.
// It also accepts the relative paths of common devices, such as dev/stdin, because the current
// directory may be the root.
func isDevice(arg string) bool {
	if _, value, ok := strings.Cut(arg, "="); ok && isDevice(value) {
		return true
	}
	if !strings.Contains(arg, "dev") && !strings.Contains(arg, "proc") {
		return false
	}
	clean := path.Clean(arg)
	return begins(clean+"/", "/dev/ /proc/") || relativeDevices.MatchString(clean)
}
