package shell_test

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/shell"
)

// A row is one line of a table in testdata.
type row struct {
	line   int
	want   string
	script string
}

// table parses a file of testdata.
func table(t testing.TB, name string) []row {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []row
	s := bufio.NewScanner(f)
	for line := 1; s.Scan(); line++ {
		if s.Text() == "" || strings.HasPrefix(s.Text(), "#") {
			continue
		}
		want, script := strings.TrimSpace(s.Text()[:10]), s.Text()[10:]
		if strings.HasPrefix(script, `"`) && strings.HasSuffix(script, `"`) {
			if text, err := strconv.Unquote(script); err == nil {
				script = text
			}
		}
		rows = append(rows, row{line, want, script})
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func pattern(t testing.TB, words string) shell.Pattern {
	t.Helper()
	p, err := shell.Compile(strings.Fields(words), false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRm checks the table of scripts that run rm; "strict" means opaque only under strict reading.
func TestRm(t *testing.T) {
	p := pattern(t, "rm")
	for _, row := range table(t, "rm.txt") {
		usual, strict := shell.Read(row.script), shell.Options{Strict: true}.Read(row.script)
		got := runs(usual, p).String()
		if got == "no match" && runs(strict, p) == shell.Opaque {
			got = "strict"
		} else if runs(strict, p).String() != got {
			t.Errorf("testdata/rm.txt:%d: %q: %s, and %s under strict reading", row.line, row.script, got, runs(strict, p))
		}
		if got != row.want {
			t.Errorf("testdata/rm.txt:%d: %q: %s, want %s (doubt: %q)", row.line, row.script, got, row.want, doubt(usual))
		}
	}
}

// mostOpaque is the maximum share of everyday scripts, in percent, that may be opaque.
// docs/shell.md quotes the figure that this test logs.
const mostOpaque = 7

func TestEveryday(t *testing.T) {
	p := pattern(t, "rm")
	opaque := 0
	rows := table(t, "everyday.txt")
	for _, row := range rows {
		r := shell.Read(row.script)
		got := runs(r, p)
		if got.String() != row.want {
			t.Errorf("testdata/everyday.txt:%d: %q: %s, want %s (doubt: %q)", row.line, row.script, got, row.want, doubt(r))
		}
		if got == shell.Opaque {
			opaque++
		}
	}
	share := 100 * float64(opaque) / float64(len(rows))
	t.Logf("%d of %d everyday scripts are opaque: %.1f %%", opaque, len(rows), share)
	if share > mostOpaque {
		t.Errorf("%.1f %% of the everyday scripts are opaque, more than %d %%", share, mostOpaque)
	}
}

func TestEvidence(t *testing.T) {
	p := pattern(t, "cp")
	for _, row := range table(t, "evidence.txt") {
		if got := surely(shell.Read(row.script), p); got != (row.want == "yes") {
			t.Errorf("testdata/evidence.txt:%d: %q: %v, want %s", row.line, row.script, got, row.want)
		}
	}
}

func TestOnly(t *testing.T) {
	var safe []shell.Pattern
	for _, words := range []string{"ls", "cat", "grep", "head", "git status", "git log"} {
		safe = append(safe, pattern(t, words))
	}
	for _, row := range table(t, "only.txt") {
		if got := onlyCheck(shell.Read(row.script), safe...); got != (row.want == "yes") {
			t.Errorf("testdata/only.txt:%d: %q: %v, want %s", row.line, row.script, got, row.want)
		}
	}
}

// TestOnlyWithAnyArguments checks that a pattern that ends with * allows no operands before its own.
func TestOnlyWithAnyArguments(t *testing.T) {
	for _, tt := range []struct {
		words, script string
		want          bool
	}{
		{"git push origin *", "git push origin main", true},
		{"git push origin *", "git -C dir push --force origin main", true},
		{"git push origin *", "git push evil origin", false},
		{"git push origin *", "git push -o ci.skip -u origin main", true},
		{"git push origin *", "git push -o origin evil", false},
		{"git push origin *", "git push -- evil origin", false},
		{"git push origin *", "git push -- origin -x", true},
		{"git push *", "git push evil origin", true},
		{"git push --new origin *", "git push --new origin main", true},
		{"git remote add origin *", "git remote add origin u", true},
		{"git remote add origin *", "git remote add -f origin u", false}, // -f is in no table and might have a value
		{"git remote add origin *", "git remote add evil origin", false},
		{"docker exec web *", "docker -H x exec -it web rm -r d", true},
		{"docker exec web *", "docker exec evil web", false},
		{"kubectl get pods *", "kubectl -n x get pods -o yaml", true},
		{"kubectl get pods *", "kubectl get secrets pods", false},
		{"kubectl exec web *", "kubectl -n x exec -it web -- ls", true},
		{"kubectl exec web *", "kubectl exec -it evil web", false},
		{"docker compose exec web *", "docker compose -f x.yml exec web rm -r d", true},
		{"docker compose exec web *", "docker compose -f x.yml exec evil web", false},
		{"npm run lint *", "npm run lint -- --fix", true},
		{"npm run lint *", "npm run other lint", false},
		{"tool a *", "tool a -v b", true},
		{"tool -v a *", "tool -v a b", true},
		{"tool a *", "tool -v a b", false}, // a might be the value of -v
		{"tool a *", "tool b a", false},
	} {
		if got := onlyCheck(shell.Read(tt.script), pattern(t, tt.words)); got != tt.want {
			t.Errorf("%s: %q: %v", tt.words, tt.script, got)
		}
	}
}

func TestOptionsAndOperandsNarrowMatches(t *testing.T) {
	for _, tt := range []struct{ words, script, want string }{
		{"git push", "git push", "match"},
		{"git push", "git -C x push origin", "match"},
		{"git push", "git pull", "no match"},
		{"git push", "git $X", "opaque"},
		// The value of an option before the subcommand is not the subcommand.
		{"git push", `git --git-dir="$D/.git" push`, "match"},
		{"git push", `git -C "$D" push`, "match"},
		{"git push", "git -C $D push", "match"},
		{"git push", "git -C $(pwd) push", "match"},
		{"git push", "git -C $D status", "no match"},
		{"git push", "git -C $@ status", "opaque"},
		{"git push", `git "-C$D" push`, "opaque"},
		{"git push --force", `git -C "$D" push origin main`, "no match"},
		{"git push --force", "git -C $D push origin main", "no match"},
		{"git push --force", "git -C $D push origin $X", "opaque"},
		{"git push --force", `git "--x$D" push`, "no match"},
		{"kubectl delete", `kubectl --context="$C" delete pod x`, "match"},
		{"kubectl delete", "kubectl --context=$C delete pod x", "match"},
		{"kubectl delete", "kubectl -n $N get pods", "no match"},
		{"kubectl delete --context=x", `kubectl --context="$C" delete pod x`, "opaque"},
		{"kubectl delete -n prod", `python3 -c "os.system('kubectl delete -n prod x')"`, "opaque"},
		{"kubectl delete -n prod", `python3 -c "os.system('kubectl delete -n dev x')"`, "no match"},
		{"kubectl delete --all", `kubectl --context="$C" -n x delete pod x`, "no match"},
		{"terraform destroy", `terraform -chdir="$D" destroy`, "match"},
		{"terraform destroy", "terraform apply -destroy", "match"},
		{"terraform destroy", "terraform apply", "no match"},
		// Aliases of git that the script defines.
		{"git push --force", "git -c alias.p=push p --force", "match"},
		{"git push --force", "git -c alias.p='push --force' p", "match"},
		{"git push --force", "git config --global alias.fp 'push --force'; git fp origin", "match"},
		{"git push --force", "git config alias.fp '!git push --force'; git fp", "match"},
		{"git push --force", "git config alias.fp '!git push --force; true'; git fp", "match"},
		{"git push --force", "git config alias.fp '!git push --force'", "opaque"},
		{"git push --force", "git config alias.p p; git p", "no match"},
		{"git push --force", "git config alias.st 'status -sb'; git st", "no match"},
		{"cargo publish", "cargo +nightly publish", "match"},
		{"git push", `'C:\Program Files\Git\cmd\git.exe' push`, "opaque"},
		{"git push", "wsl -d Debian -- git push", "match"},
		{"git push", "winpty git push", "match"},
		{"git push", `git commit -m "push $X"`, "no match"},
		{"git push", "git-push origin main", "match"},
		{"git push", "git-pull origin main", "no match"},
		{"git push", "git send-pack origin main", "match"},
		{"git push", "cargo watch -s 'git push'", "opaque"},
		// zsh, the shell of many agents, reads these as a command.
		{"git push", "=git push", "opaque"},
		{"git push", "timeout 5 =git push", "opaque"},
		{"git push", "functions[f]='git push'; f", "opaque"},
		{"git push", "functions=(f 'git push'); f", "opaque"},
		{"git push", "typeset -g functions[f]='git push'; f", "opaque"},
		{"git push", ": ${functions[f]:=git push}; f", "opaque"},
		{"git push", "commands[ls]=/usr/bin/git; ls push", "opaque"},
		{"git push", "aliases[x]='git push'; eval x", "opaque"},
		{"git push", "path=(/x $path); ls", "opaque"},
		{"git push", "path+=/x; ls", "opaque"},
		{"git push", "path=x; ls $path", "no match"},
		{"git push", "chpwd_functions=git; cd push", "opaque"},
		{"git push", "ls *(e:'git push':)", "opaque"},
		{"git push", "x='git push'; $=x", "opaque"},
		{"git push", "x=push; git $~x", "opaque"},
		{"git push", `x='git push'; "$=x"`, "opaque"},
		{"git push", `echo "a\$=x $= ^$" '$=x'`, "no match"},
		{"git push", "grep '$=x' f", "no match"},
		{"git push", "autoload f; f", "opaque"},
		{"rm", "zmodload -m -F zsh/files b:zf_\\*; zf_rm x", "opaque"},
		{"npm publish", "npm publ", "opaque"},
		{"npm publish", "npm pu", "opaque"},
		{"npm publish", "npm -s pub --access public", "opaque"},
		{"npm publish", "npm prune", "no match"},
		{"npm install", "npm add x", "match"},
		{"npm install", "npm i x", "match"},
		{"npm run deploy", "npm rum deploy", "match"},
		{"npm run deploy", "npm run-script deploy", "match"},
		{"npm run deploy", "npm run depl", "no match"},
		{"npm publish", "yarn workspaces foreach -A npm publish", "opaque"},
		{"npm publish", "yarn workspace x npm publish", "opaque"},
		{"npm publish", "yarn workspace x run publish", "no match"},
		{"lerna publish", "npx lerna@8 publish --yes", "match"},
		{"lerna publish", "lerna --loglevel info publish", "match"},
		{"lerna publish", "lerna run publish", "no match"},
		{"changeset publish", "pnpm changeset publish", "match"},
		{"changeset publish", "npx changeset version", "no match"},
		{"twine upload", "python -m build && twine upload dist/*", "match"},
		{"twine upload", "uvx twine upload dist/*", "match"},
		{"twine upload", "python3 -m twine check upload", "no match"},
		{"hatch publish", "hatch -e x publish", "match"},
		{"hatch publish", "hatch run publish", "no match"},
		{"flit publish", "python -m flit -f x.toml publish", "match"},
		{"flit publish", "flit install publish", "no match"},
		{"pulumi destroy", "pulumi down -y", "match"},
		{"pulumi up", "pulumi update", "match"},
		{"helm uninstall", "helm delete x", "match"},
		{"helm uninstall", "helm plugin uninstall x", "no match"},
		{"hg push", "hg pus", "opaque"},
		{"pip install", "pip3 install x", "match"},
		{"pip install", "pip3.12 install x", "match"},
		{"pip3 install", "pip install x", "opaque"},
		{"pip install", "pipx list", "no match"},
		{"docker compose down", "docker-compose -f x down", "opaque"},
		{"docker-compose down", "docker compose down", "opaque"},
		{"make deploy", "gmake deploy", "opaque"},
		{"gradle publish", "gradle :lib:publish", "opaque"},
		{"gradle publish", "gradle pub", "opaque"},
		{"gradle publishToMavenLocal", "gradle pTML", "opaque"},
		{"gradle publish", "gradle test", "no match"},
		{"gradle x", "gradle :", "no match"},
		{"git push main", "git push origin HEAD:main", "opaque"},
		{"git push main", "git push origin +refs/heads/main", "opaque"},
		{"git push main", "git push origin main:x", "no match"},
		{"svn commit", "svn ci -m x", "match"},
		{"cargo run", "cargo r", "match"},
		{"git push", "git pus", "no match"},
		{"git push --force", "git push origin --force", "match"},
		{"git push --force", "git push -f", "match"},
		{"git push --force", "git push origin $X", "opaque"},
		{"git push --force", `git push origin "$X"`, "opaque"},
		{"git push --force", `git push origin "main-$X"`, "no match"},
		{"git push --force", "git push origin *.txt", "no match"},
		{"git push --force", "git push origin *", "opaque"},
		{"git push --force", "git --force push", "opaque"},
		{"git push --force", "git push\ngit x --force", "no match"},
		{"git push --force", "git push -uf origin main", "match"},
		{"git push --force", "git push origin +main", "match"},
		{"git push --force", "git push --force-with-lease=x origin main", "match"},
		{"git push --force", "git push --mirror", "match"},
		{"git push --force", "git push --forc", "opaque"},
		{"git push --force", "git push --follow-tags", "no match"},
		{"git push --force", "git push -u origin force", "no match"},
		{"git push --force", `git push "-$X"`, "opaque"},
		{"git push --force", "git push origin -- +main", "match"},
		{"git push --force", `git push origin -- "$B"`, "opaque"},
		{"git push --force", "git push origin -- main", "no match"},
		{"git push -f", "git push --force", "match"},
		{"git push --delete", "git push origin :main", "match"},
		{"git push --delete", "git push origin main", "no match"},
		{"rm -rf", "rm -fr x", "match"},
		{"rm -rf", "rm -r -f x", "match"},
		{"rm -rf", "rm x -r y -f", "match"},
		{"rm -rf", "rm -Rfv x", "match"},
		{"rm -rf", "rm --recursive --force x", "match"},
		{"rm -rf", "rm --rec --for x", "opaque"},
		{"rm -rf", "rm -r x", "no match"},
		{"rm -rf", "rm -f x", "no match"},
		{"rm -rf", "rm $X", "opaque"},
		{"rm -rf", "rm -r $X", "opaque"},
		{"rm -rf", `rm -r "-$X"`, "opaque"},
		// File names passed on by find and similar programs begin with a starting point, and so are
		// not options.
		{"rm -rf", `find . -name "*.o" -exec rm {} \;`, "no match"},
		{"rm -rf", "find -L src lib -name x -exec rm -f {} +", "no match"},
		{"rm -rf", `find "$HOME/x" "$(pwd)" -type f -exec rm -f {} +`, "no match"},
		{"rm -rf", `find "$X" -exec rm -f {} +`, "opaque"},
		{"rm -rf", `find -L "$X" -exec rm -f {} +`, "opaque"},
		{"rm -rf", "find -f -rf -exec rm {} +", "opaque"},
		{"rm -rf", "find . -files0-from f -exec rm {} +", "opaque"},
		{"rm -rf", "find . -execdir rm -f {} +", "opaque"},
		{"rm -rf", "find . -exec rm -rf {} +", "match"},
		{"git push", "find . -exec git {} x \\;", "opaque"},
		{"rm -rf", "find . -name x | xargs rm -f", "no match"},
		{"rm -rf", "find . -name x -print0 | sudo xargs -0 rm -f", "no match"},
		{"rm -rf", "find . | grep -v x | sort | xargs -I{} rm -f {}", "no match"},
		{"rm -rf", "git ls-files -o | xargs rm -f", "no match"},
		{"rm -rf", "grep -rl x src | xargs -r rm -f", "no match"},
		{"rm -rf", "ls *.o | xargs rm", "no match"},
		{"rm -rf", "find . | xargs rm -rf", "match"},
		{"rm -rf", "xargs rm -f < f", "opaque"},
		{"rm -rf", "find . | xargs rm -f < f", "opaque"},
		{"rm -rf", "cat f | xargs rm -f", "opaque"},
		{"rm -rf", "echo -rf x | xargs rm", "opaque"},
		{"rm -rf", "git log -p | xargs rm", "opaque"},
		{"rm -rf", "grep -l x f && echo -rf x | xargs rm", "opaque"},
		{"rm -rf", "{ echo -rf; find .; } | xargs rm", "opaque"},
		{"rm -rf", "{ ls; echo -rf; } | sort | xargs rm", "opaque"},
		{"rm -rf", "ls | { echo -rf x; cat; } | xargs rm", "opaque"},
		{"rm -rf", "ls | sed s/x/-rf/ | xargs rm", "opaque"},
		{"rm -rf", "ls | grep -o x | xargs rm", "opaque"},
		{"rm -rf", "ls -l | xargs rm", "opaque"},
		{"rm -rf", `ls $X | xargs rm`, "opaque"},
		{"rm -rf", `find . -printf "-rf %p" | xargs rm`, "opaque"},
		{"rm -rf", "find . -exec echo -rf {} + | xargs rm", "opaque"},
		{"git push", "ls | xargs git", "opaque"},
		{"git push --force", "git branch --merged | xargs git push", "opaque"},
		// Files that the script writes.
		{"rm -rf", "cat > .github/workflows/x.yml <<'X'\nrun: rm -rf dist\nX\ngit add -A && git commit -m ci", "no match"},
		{"rm -rf", "echo 'rm -rf x' > src/config.ts; git add src/config.ts && git commit -m x", "no match"},
		{"rm -rf", "echo 'rm -rf x' > .gitlab-ci.yml && git add .", "no match"},
		{"rm -rf", "echo 'rm -rf x' | tee src/hooks.ts && git commit -am x", "no match"},
		{"rm -rf", "cat > x_test.go <<'X'\nexec(\"rm\",\"-rf\")\nX\ngo test ./...", "opaque"},
		{"rm -rf", "cat > x_test.go <<'X'\nexec(\"rm\",\"-rf\")\nX\ngit add . && git commit -m x && docker build .", "no match"},
		{"rm -rf", "cat > Dockerfile <<'X'\nRUN rm -rf /var/lib/apt/lists/*\nX\ndocker build .", "no match"},
		{"rm -rf", "echo 'rm -rf x' > .git/hooks/pre-commit; git commit -m x", "opaque"},
		{"rm -rf", "printf '#!/bin/sh\\nrm -rf x\\n' > .git/hooks/pre-commit; git commit -m x", "opaque"},
		{"rm -rf", "echo 'rm -rf x' > .husky/pre-push; git push", "opaque"},
		{"rm -rf", "cp a hooks/b; echo 'rm -rf x' > c.ts; git push", "opaque"},
		{"rm -rf", "echo 'rm -rf x' > .git/config; git status", "opaque"},
		{"rm -rf", "echo 'rm -rf x' > conftest.py; pytest", "opaque"},
		{"rm -rf", "echo 'rm -rf x' > jest.config.js; npx jest", "opaque"},
		{"rm -rf", "echo 'rm -rf x' > .npmrc; npm ci", "opaque"},
		{"rm -rf", "echo 'rm -rf x' > $F; go test", "opaque"},
		{"rm -rf", "echo 'rm -rf x' | tee a.ts b; npx jest", "opaque"},
		{"rm -rf", "echo 'rm -rf x' > a.py; python a.py", "opaque"},
		{"rm -rf", "curl -s u > a.py; python a.py", "opaque"},
		{"rm -rf", `npm pkg set scripts.clean="rm -rf dist"`, "no match"},
		{"rm -rf", `npm pkg set scripts.clean="rm -rf dist"; npm run clean`, "opaque"},
		{"rm -rf", `npm pkg set scripts.clean="rm -rf dist"; npm pkg get scripts; ls`, "no match"},
		// A program in a file, however it is started.
		{"rm", "bash < x.sh", "no match"},
		{"rm", "cat a.sh b.sh | bash -s x", "no match"},
		{"rm", "ssh host 'bash -s' < x.sh", "no match"},
		{"rm", "ssh host 'bash -s' < x.sh | cat", "no match"},
		{"rm", "ssh host 'cat y | bash' < x.sh", "no match"},
		{"rm", "ssh host 'curl u | bash' < x.sh", "opaque"},
		{"rm", "echo 'rm x' > x.sh; bash < x.sh", "opaque"},
		{"rm", "echo 'rm x' > x.sh; cat x.sh | bash", "opaque"},
		{"rm", "bash < /dev/tcp/host/80", "opaque"},
		{"rm", "bash < $F", "opaque"},
		{"rm", "bash < <(curl u)", "opaque"},
		{"rm", "cat - | bash", "opaque"},
		{"rm", "cat <(curl u) | bash", "opaque"},
		{"rm", "echo rm x | cat | bash", "opaque"},
		{"rm", "echo rm x | cat - y | bash", "opaque"},
		{"rm", "curl u | bash", "opaque"},
		{"rm", "cat x.sh | sed s/a/b/ | bash", "opaque"},
		{"rm", "cat x.sh <<< 'rm x' | bash", "opaque"},
		{"rm", "ssh host -p 22 uptime", "no match"},
		{"rm", "ssh -L 8080:localhost:80 host -N &", "no match"},
		{"rm", "ssh host -t rm x", "match"},
		{"rm", "ssh host -o 'ProxyCommand=rm x' ls", "opaque"},
		{"rm", "ssh host --x=y rm x", "opaque"},
		{"terraform destroy", `python3 -c 'os.system("cd x\nterraform destroy")'`, "opaque"},
		{"terraform destroy", `node -e 'execSync("cd x\tterraform destroy")'`, "opaque"},
		// Devices, and project directories with the same name.
		{"rm", "bash scripts/dev/up.sh", "no match"},
		{"rm", "node src/proc/x.js; python dev/x.py; bun run dev", "no match"},
		{"rm", "bash dev/$X.sh", "no match"},
		{"rm", "bash /dev/stdin", "opaque"},
		{"rm", "cd /; bash dev/stdin", "opaque"},
		{"rm", "bash ../../dev/fd/3", "opaque"},
		{"rm", "bash /tmp/../dev/stdin", "opaque"},
		{"rm", "bash /dev/fd/$X", "opaque"},
		{"rm", "bash /proc/self/fd/0", "opaque"},
		{"rm", "cd /; bash proc/self/fd/0", "opaque"},
		// set -a, and the indices of an array.
		{"rm", "set -a; source ./x; set +a", "no match"},
		{"rm", "set -eauo allexport; set +H; x=y; make", "no match"},
		{"rm", "set -o allexport; X='rm -rf y'; make", "opaque"},
		{"rm", "set -a; X='rm -rf y'; make", "opaque"},
		{"rm", "set -H; echo x", "opaque"},
		{"rm", "set -ak; echo x", "opaque"},
		{"rm", "set +B; echo x", "opaque"},
		{"rm", `a=(x y); for i in "${!a[@]}"; do echo "$i ${a[$i]}"; done`, "no match"},
		{"rm", `declare -gA m; m['b[$(rm y)]']=1; for i in "${!m[@]}"; do echo "${a[$i]}"; done`, "opaque"},
		{"rm", `for i in "${!x}"; do echo "${a[$i]}"; done`, "opaque"},
		{"rm --recursive --force", "rm -rf x", "match"},
		{"git branch -D", "git branch -D x", "match"},
		{"git branch -D", "git branch -d -f x", "match"},
		{"git branch -D", "git branch --delete --force x", "match"},
		{"git branch -D", "git branch -d x", "no match"},
		{"git commit -n", "git commit -mn", "no match"},
		{"git commit --no-verify", "git commit -nm x", "match"},
		{"curl -X DELETE", "curl -XDELETE u", "match"},
		{"curl -X DELETE", "curl --request=DELETE u", "match"},
		{"curl -X DELETE", "curl --request DELETE u", "match"},
		{"curl -X DELETE", "curl -X POST u DELETE", "no match"},
		{"curl -X DELETE", `curl -X "$M" u`, "opaque"},
		{"kubectl delete --force", "kubectl delete -f x.yml", "no match"},
		{"kubectl delete --force", "kubectl delete pod x --force=true", "match"},
		{"terraform apply -auto-approve", "terraform apply --auto-approve", "match"},
		{"terraform apply -auto-approve", "terraform apply -auto-approve=true", "match"},
		{"find -delete", "find . -maxdepth 1 -ls", "no match"},
		{"find -delete", "find . -type d", "no match"},
		{"git push --force", `git push origin "+$(git branch --show-current)"`, "match"},
		{"git push --force", `git push origin +$(git branch --show-current)`, "match"},
		{"git push --force", `git push origin "x/$(git branch --show-current)"`, "no match"},
		{"git push --force", `B=$(git branch --show-current) && git push -u origin "$B"`, "no match"},
		{"git push --force", `B=$(git branch --show-current); git push origin "+$B"`, "match"},
		{"git push --force", `B=+$(git branch --show-current); git push origin "$B"`, "match"},
		{"git push --force", `B=$(cat f); git push origin "$B"`, "opaque"},
		{"mytool --force", "mytool -f", "opaque"},
		{"mytool --force", "mytool -xf", "opaque"},
		{"mytool --force", "mytool -x", "no match"},
		{"mytool --force", "mytool --fo", "opaque"},
		{"mytool -f", "mytool --force", "opaque"},
		{"mytool -f", "mytool --dry", "no match"},
		{"mytool -rf", "mytool -r -f", "match"},
		{"mytool -rf", "mytool -f", "no match"},
		{"mytool --mode=x", "mytool --mode=x", "match"},
		{"mytool --mode=x", "mytool --mode x", "match"},
		{"mytool --mode=x", "mytool --mode=y", "no match"},
		{"npm run build", "npm run x build", "no match"},
		{"find -delete", "find . -name x -delete", "match"},
		{"sudo rm", "sudo -u me rm x", "match"},
		{"sudo rm", "sudo ls; rm x", "no match"},
		{"chmod 777", "chmod {644,777} f", "match"},
		{"docker rm", "docker exec c rm", "no match"},
		{"psql", "docker exec db psql -U x", "opaque"},
	} {
		if got := runs(shell.Read(tt.script), pattern(t, tt.words)).String(); got != tt.want {
			t.Errorf("runs %s: %q: %s, want %s", tt.words, tt.script, got, tt.want)
		}
		reader := shell.Options{}.NewReader()
		if n, err := reader.Command(strings.Fields(tt.words), false); err != nil || (reader.Read(nil, tt.script).Finds(n) == gate.NotFound) != (tt.want == "no match") {
			t.Errorf("runs %s: %q: a reader finds something else, %v", tt.words, tt.script, err)
		}
	}
}

func TestCompile(t *testing.T) {
	for _, words := range [][]string{nil, {}, {""}, {"/bin/rm"}, {"./x"}} {
		if _, err := shell.Compile(words, false); err == nil {
			t.Errorf("Compile(%q) has no error", words)
		}
	}
	if got := pattern(t, "git push --force").String(); got != "git push --force" {
		t.Errorf("String() = %q", got)
	}
	if got := runs(shell.Read("ls"), shell.Pattern{}); got != shell.NoMatch {
		t.Errorf("the zero pattern: %s", got)
	}
}

// TestDocumentedShare checks the figure in the documentation against the table.
func TestDocumentedShare(t *testing.T) {
	text, err := os.ReadFile("../../docs/shell.md")
	if err != nil {
		t.Fatal(err)
	}
	opaque := 0
	rows := table(t, "everyday.txt")
	for _, row := range rows {
		if row.want == "opaque" {
			opaque++
		}
	}
	want := fmt.Sprintf("Of %d scripts in a longer list, %d (%.1f %%) are opaque",
		len(rows), opaque, 100*float64(opaque)/float64(len(rows)))
	if !strings.Contains(string(text), want) {
		t.Errorf("docs/shell.md does not say %q", want)
	}
}

// TestEmptyWords checks that no argument matches an empty word of a pattern.
func TestEmptyWords(t *testing.T) {
	for _, name := range []string{"gradle", "npm", "git"} {
		p, err := shell.Compile([]string{name, ""}, false)
		if err != nil {
			continue
		}
		if got := runs(shell.Read(name+" x"), p); got != shell.NoMatch {
			t.Errorf("%s: %v", name, got)
		}
	}
}
