package shell_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/shell"
)

// TestDryRuns checks that a command that certainly changes nothing does not match, and that one
// that may change something does.
func TestDryRuns(t *testing.T) {
	for _, c := range []struct{ words, script, want string }{
		{"git push", "git push --dry-run", "no match"},
		{"git push", "git push -n origin main", "no match"},
		{"git push", "git -C app push origin main --dry-run", "no match"},
		{"git push --force", "git push --force --dry-run", "no match"},
		{"git push --force", "git push --force-with-lease=main --dry-run origin +main", "no match"},
		{"git push", "sudo bash -c 'git push --dry-run'", "no match"},
		{"npm publish", "npm publish --dry-run", "no match"},
		{"npm publish", "npm publish --tag=next --access public --dry-run", "no match"},
		{"cargo publish", "cargo publish -n --allow-dirty", "no match"},
		{"kubectl apply", "kubectl -n x apply -f a.yml --dry-run=server", "no match"},
		{"helm upgrade", "helm upgrade --install x y --dry-run", "no match"},
		{"git clean", "git clean -fd -n", "no match"},
		{"helm uninstall", "helm -n x uninstall y --dry-run", "no match"},
		{"helm uninstall", "helm del y --wait --dry-run", "no match"},
		{"helm rollback", "helm rollback x 1 --dry-run", "no match"},
		{"poetry publish", "poetry publish --build --dry-run", "no match"},
		{"uv publish", "uv build && uv publish --dry-run", "no match"},
		{"bun publish", "bun publish --tag next --dry-run", "no match"},
		{"pulumi destroy", "pulumi -s dev destroy --preview-only", "no match"},

		{"git push", "git push --help", "no match"},
		{"terraform destroy", "terraform destroy -help", "no match"},
		{"git push", "git push --force --help", "match"},
		{"git push", "git push -o --help", "match"},
		{"git push", "git push -help", "match"},
		{"git push", "git push $X --help", "match"},
		{"docker run", "docker run x --help", "match"},
		{"npm run x", "npm run x --help", "match"},
		{"git push", "git push --dry-run && git push", "match"},
		{"git push", "git push --dry-run --no-dry-run", "match"},
		{"git push", "git push --dry-run --no-dr", "match"},
		{"git push", "git push --no-dry-run", "match"},
		{"git push", "git push --dry", "match"},
		{"git push", "git push --dry-run=false", "match"},
		{"git push", "git push -un", "match"},
		{"git push", "git push -o --dry-run", "match"},
		{"git push", "git push -- --dry-run", "match"},
		{"git push", `git push --dry-run "$X"`, "match"},
		{"git push", "git push --dry-run $X", "match"},
		{"git push", "git push --dry-run --receive-pack=x", "match"},
		{"git push", "git --frob push --dry-run", "opaque"},
		{"git push --force", "git push --dry-run $X", "opaque"},
		{"npm publish", "npm publish --dry-run false", "match"},
		{"npm publish", "npm publish --tag --dry-run", "match"},
		{"npm publish", "npm publish -n", "match"},
		{"kubectl apply", "kubectl apply -f a.yml --dry-run=none", "match"},
		{"kubectl apply", "kubectl apply -f a.yml --dry-run", "match"},
		{"docker push", "docker push x --dry-run", "match"},
		{"rm", "rm --dry-run x", "match"},
		{"hatch publish", "hatch publish --dry-run", "match"},
		{"yarn publish", "yarn publish --dry-run", "match"},
		{"poetry publish", "poetry publish -r --dry-run", "match"},
		{"uv publish", "uv publish --dry-run && uv publish", "match"},
		{"pulumi destroy", "pulumi destroy --preview-only --preview-only=false", "match"},
		{"pulumi destroy", "pulumi destroy --preview-only --preview-only false", "match"},
		{"pulumi up", "pulumi up --preview-only", "match"},

		{"git push --dry-run", "git push --dry-run", "match"},
		{"git push -n", "git push -n", "match"},
		{"git push *", "git push --dry-run", "match"},
	} {
		if got := runs(shell.Read(c.script), pattern(t, c.words)).String(); got != c.want {
			t.Errorf("runs %s: %q: %s, want %s", c.words, c.script, got, c.want)
		}
	}
}

// TestFilesInCode checks that a file named in code of another language is in doubt, in every
// spelling of its path.
func TestFilesInCode(t *testing.T) {
	secrets := []string{".env*", "*.pem", ".ssh/*", "/etc/shadow"}
	for script, want := range map[string]string{
		`python3 -c "print(open('.env').read())"`:             "opaque",
		`fish -c 'cat .env'`:                                  "opaque",
		`fish -c 'cat README.md'`:                             "no match",
		`node -e 'fs.readFileSync("/home/u/app/.env.local")'`: "opaque",
		`ruby -e 'puts File.read("~/.ssh/id_ed25519")'`:       "opaque",
		"python3 - <<'E'\nopen('/etc/shadow')\nE":             "opaque",
		`python3 -c "print(1)"`:                               "no match",
		`python3 -c "import os; print(os.environ['HOME'])"`:   "no match",
		`python3 -c "open('env').read()"`:                     "no match",
		`git commit -m "read .env"`:                           "no match",
		`python3 -c "` + wordsOf(30_000) + `"`:                "opaque",
	} {
		got := shell.NoMatch
		for _, glob := range secrets {
			p, err := shell.CompileFiles(shell.Reads, glob)
			if err != nil {
				t.Fatal(err)
			}
			if o, why := shell.Read(script).Touches(p); o != shell.NoMatch {
				got = o
				if o == shell.Opaque && (why.What == "" || why.Advice == "") {
					t.Errorf("%.60q: no reason", script)
				}
			}
		}
		if got.String() != want {
			t.Errorf("%.60q: %s, want %s", script, got, want)
		}
	}
	everything, _ := shell.CompileFiles(shell.Writes, "*")
	for script, want := range map[string]string{
		`python3 -c "open('.env', 'w')"`: "no match", "find . -name x -delete": "match", "find . -name -delete": "no match",
		"find . -fprint out": "match", "find . -exec rm {} +": "match", "find . -type f": "no match",
	} {
		if got, _ := shell.Read(script).Touches(everything); got.String() != want {
			t.Errorf("writes *: %q: %s, want %s", script, got, want)
		}
	}
}

// wordsOf returns n different words.
func wordsOf(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte(',')
		for ; i > 0; i /= 26 {
			b.WriteByte(byte('a' + i%26))
		}
	}
	return b.String()
}
