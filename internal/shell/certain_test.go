package shell_test

import (
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/shell"
)

// exemptions are scripts that carry a label and are tested for `unless` and `allow`. A script that
// is exempt has the reason why its command does nothing but what its name says; others have "".
var exemptions = []struct{ words, script, exempt string }{
	{"git grep", "git grep -lO'rm -rf x' ''", ""},
	{"git grep", "git grep --op=rm x", ""},
	{"git log *", "git -c core.pager='rm x' log", ""},
	{"git log *", "git --exec-path=/tmp log", ""},
	{"git log *", "PAGER='rm x' git log", ""},
	{"git log *", "git log $X", ""},
	{"git log *", "git -C app log -3 main", "any arguments, and options that only say where"},
	{"git log", "git log --output=.bashrc", ""},
	{"git diff", "git diff --no-index --output=.git/hooks/post-checkout /dev/null f", ""},
	{"git log", "git log --ext-diff", ""},
	{"sort", "sort -o /home/u/.bashrc f", ""},
	{"sort", "sort --output=/home/u/.bashrc f", ""},
	{"sort", "sort --outp=/home/u/.bashrc f", ""},
	{"uniq", "uniq f /home/u/.bashrc", ""},
	{"find", "find . -delete", ""},
	{"find", "find -- . -delete", ""},
	{"find", "find . -fprintf /home/u/.bashrc x", ""},
	{"sqlite3", "sqlite3 x.db '.once |rm victim' 'select 1'", ""},
	{"git fetch", "git fetch -q --upload-pac='rm x' .", ""},
	{"git fetch", "git fetch origin +main:main", ""},
	{"git clone", "git clone -qu'rm x' src y", ""},
	{"xxd", "xxd -r p /home/u/.bashrc", ""},
	{"xxd", "xxd p /home/u/.bashrc", ""},
	{"tree", "tree -o /home/u/.bashrc", ""},
	{"yq", "yq -i .a=1 f", ""},
	{"curl", "curl -so /home/u/.bashrc file:///x", ""},
	{"curl", "curl -sSfL -X DELETE http://localhost/x", ""},
	{"curl", "curl file:///etc/passwd", ""},
	{"date", "date -s 2020-01-01", ""},
	{"date", "date 010203042026", ""},
	{"hostname", "hostname evil", ""},
	{"git branch", "git branch -D main", ""},
	{"git branch", "git branch new", ""},
	{"git remote", "git remote set-url origin ext::x", ""},
	{"git remote", "git remote add x y", ""},
	{"git tag", "git tag v1", ""},
	{"git stash", "git stash drop", ""},
	{"git reflog", "git reflog expire --all", ""},
	{"git config", "git config user.name x", ""},
	{"strace", "strace --output='|rm x' true", ""},
	{"sed", "sed --file=/dev/stdin f", ""},
	{"sed", "sed -i s/a/b/ f", ""},
	{"sed", "sed -n 'w f' g", ""},
	{"awk", "awk 'BEGIN{print > \"/home/u/.bashrc\"}'", ""},
	{"rg", "rg --pre rm x", ""},
	{"dmesg", "dmesg -C", ""},
	{"journalctl", "journalctl --vacuum-size=1", ""},
	{"journalctl", "journalctl -n --rotate", ""},
	{"grep", "grep -rn x $DIR", ""},
	{"file", "file -C -m magic", ""},
	{"make test", "make test deploy", ""},
	{"make test", "make test SHELL=./x", ""},
	{"npm test", "npm test -- --updateSnapshot", ""},
	{"npm run", "npm run deploy", ""},
	{"npm", "npm publish", ""},
	{"git push origin", "git push origin +main", ""},
	{"git push origin", "git push origin :main", ""},
	{"git push origin", "git push -f origin main", ""},
	{"git push origin", "git push evil origin", ""},
	{"git", "git frobnicate", ""},
	{"kubectl get", "kubectl get --kubeconfig=x pods", ""},
	{"kubectl get", "kubectl delete get", ""},
	{"docker ps", "docker -H tcp://x ps", ""},
	{"gofmt", "gofmt -l -w .", ""},
	{"eslint", "eslint --fix src", ""},
	{"mytool", "mytool x", ""},
	{"mytool lint", "mytool lint --fix", ""},
	{"go vet", "go vet -vettool=./x ./...", ""},
	{"go list", "go list -toolexec=./x ./...", ""},
	{"pytest", "pytest @args", ""},
	{"rg", "rg --hostname-bin ./x y", ""},
	{"cp", "cp --suffix=.sh -b a b", ""},
	{"jq", "jq -f x.jq $F", ""},
	{"hexdump", "hexdump -e \"$X\" f", ""},

	{"ls", "ls", "ls only lists, with any options"},
	{"ls", "ls -la --color=auto src/*.go", "ls only lists, with any options"},
	{"ls -l", "ls -al", "the pattern's option is among them"},
	{"cat", "cat f", "cat only reads"},
	{"cat", "cat \"$F\" ~/x", "cat only reads, with any options"},
	{"head", "head -n 20 f", "head only reads"},
	{"wc", "wc -l f", "wc only reads"},
	{"column", "column f", "column writes to its standard output alone"},
	{"git stash list", "git stash list", "it shows the stashes"},
	{"git status", "git status", "it shows the state"},
	{"git status", "git status -sb --porcelain=v1", "these options are on how it is shown"},
	{"git log", "git log --oneline -20 main..x -- src", "these options are on what is shown"},
	{"git log", "git log --pretty=format:'%h %s' --since='2 weeks ago' -n 3", "these options are on what is shown"},
	{"git diff", "git diff --stat HEAD~1", "these options are on how it is shown"},
	{"git diff", "git diff --cached -- f", "these options are on what is compared"},
	{"git show", "git show HEAD:f", "it shows a blob"},
	{"git branch", "git branch -a --sort=-committerdate", "without an operand it lists"},
	{"git branch", "git branch --show-current", "without an operand it lists"},
	{"git", "git log -1", "a subcommand whose options are known"},
	{"git push origin", "git push -u origin main", "a plain push of a branch to origin"},
	{"git grep", "git grep -n x -- '*.go'", "it only searches"},
	{"jq", "jq . f", "jq writes to its standard output alone"},
	{"jq", "jq -r '.items[] | .name' f", "jq writes to its standard output alone"},
	{"ps", "ps", "ps only shows"},
	{"ps", "ps aux", "ps only shows, with any options"},
	{"grep", "grep -rn --include='*.go' TODO .", "grep only searches"},
	{"grep", "grep -c x -- \"$F\"", "behind -- no option follows"},
	{"rg", "rg -n 'func Read' -g '*.go'", "these options run nothing"},
	{"find", "find . -type f -name '*.go' -not -path './vendor/*'", "tests alone"},
	{"sort", "sort -t: -k2 -n f", "it sorts to its standard output"},
	{"uniq", "uniq -c f", "one operand is the input"},
	{"sed", "sed -n '10,40p' f", "the script only prints"},
	{"awk", "awk -F, '{print $3}' f", "the program only prints"},
	{"diff", "diff -u a b", "diff only compares"},
	{"tree", "tree -L 2", "these options are on what is shown"},
	{"curl", "curl -sS http://localhost:8080/health", "it fetches and prints"},
	{"date", "date -u +%F", "it prints the time"},
	{"make test", "make test", "the words of the pattern"},
	{"make test", "make -j8 -k test", "these options are on how it is made"},
	{"npm test", "npm test", "the words of the pattern"},
	{"npm run lint", "npm run -s lint", "the words of the pattern, silently"},
	{"go test", "go test -race -count=1 ./...", "these options test no less"},
	{"go vet", "go vet ./...", "it only examines"},
	{"gofmt -l", "gofmt -l .", "it lists"},
	{"pytest", "pytest -xq tests/test_a.py", "these options are on how it is reported"},
	{"cargo test", "cargo test --locked", "it tests all"},
	{"kubectl get", "kubectl get pods -n staging -o wide", "it shows"},
	{"docker ps", "docker ps -a", "it shows"},
	{"gh pr view", "gh pr view 12 --json title,body", "it shows"},
	{"mytool lint", "mytool lint", "the words of the pattern and nothing else"},
	{"mytool lint --all", "mytool lint --all", "the words of the pattern and nothing else"},
	{"sort -o", "sort -o out in", "the pattern has the option"},
}

func TestExemptions(t *testing.T) {
	for _, tt := range exemptions {
		if got := onlyCheck(shell.Read(tt.script), pattern(t, tt.words)); got != (tt.exempt != "") {
			t.Errorf("runs %s: %q: exempt %v, want %v (%s)", tt.words, tt.script, got, !got, tt.exempt)
		}
	}
}

// dryRuns succeed without doing the work, or do other work.
var dryRuns = map[string][]string{
	"make test": {"make test -n", "make -n test", "make -t test", "make -q test", "make --touch test", "make --just test", "make -kn test", "make --dry test", "make -i test",
		"make test -f x.mk", "make -C other test", "make VAR=1 test", "make test --what-if=x", "make -vk test", "make --question test"},
	"go test":          {"go test -c ./...", "go test -list . ./...", "go test -run XXX ./...", "go test --run=XXX ./...", "go test -count=0 ./...", "go test -n ./...", "go test -short ./...", "go test -exec true ./...", "go test -skip . ./...", "go test ./... -args -test.run=XXX", "go test -tags none ./...", "go test -vet=off ./...", "go test -test.run=XXX ."},
	"cargo test":       {"cargo test --no-run", "cargo test -- --list", "cargo test nothing", "cargo test -p x", "cargo test --help"},
	"pytest":           {"pytest --collect-only", "pytest --co", "pytest --collect-o", "pytest -k none", "pytest --deselect x", "pytest --setup-plan", "pytest -p no:x", "pytest --fixtures"},
	"rsync":            {"rsync -n a b", "rsync -an a b", "rsync --dry-run a b", "rsync --dry a b", "rsync --exclude='*' -a a b", "rsync a", "rsync --list-only a b"},
	"cp":               {"cp -n a b", "cp --no-clobber a b", "cp -u a b", "cp -rn a b", "cp -l a b", "cp -s a b", "cp --attributes-only a b", "cp --no-cl a b", "cp -i a b"},
	"mv":               {"mv -n a b", "mv -i a b", "mv -u a b"},
	"rm":               {"rm -i a", "rm -ri a", "rm --interactive a"},
	"mvn test":         {"mvn test -DskipTests", "mvn -DskipTests test", "mvn test -Dmaven.test.skip", "mvn test --help", "mvn test -pl none"},
	"gradle test":      {"gradle test --dry-run", "gradle test -m", "gradle test -x test"},
	"ansible-playbook": {"ansible-playbook --check x.yml", "ansible-playbook -C x.yml", "ansible-playbook --syntax-check x.yml", "ansible-playbook --list-tasks x.yml"},
	"npm test":         {"npm test --if-present", "npm test --dry-run", "npm test --ignore-scripts", "npm test -- --listTests"},
	"npm ci":           {"npm ci --dry-run", "npm ci --ignore-scripts"},
	"git push":         {"git push -n", "git push --dry-run origin main", "git push --dry origin", "git push -un origin main"},
	"git commit":       {"git commit --dry-run -m x", "git commit -m x --dry"},
	"tar czf":          {"tar czf b.tgz", "tar czf /dev/null src", "tar czf b.tgz -T none", "tar czf b.tgz src --exclude='*'"},
	"pg_dump":          {"pg_dump --schema-only db", "pg_dump -t none db", "pg_dump -s db"},
	"terraform apply":  {"terraform apply -refresh-only", "terraform apply -target=none"},
	"tsc":              {"tsc --init", "tsc --version", "tsc --listFilesOnly"},
	"jest":             {"jest --listTests", "jest none", "jest --passWithNoTests -t none"},
}

// partial are test commands that can succeed after running only some of the tests, no tests, or
// other programs.
var partial = map[string][]string{
	"yarn test":   {"yarn test src/a.test.ts", "yarn test -t login", "yarn test --testNamePattern login"},
	"pnpm test":   {"pnpm test src/a.test.ts", "pnpm test -- -t login"},
	"pytest":      {"pytest -h", "pytest --override-ini=addopts=--co", "pytest -V", "pytest -qh", "pytest -VV", "PYTEST_ADDOPTS=--co pytest", "export PYTHONOPTIMIZE=1; pytest"},
	"make test":   {"make --assume-old=test test", "make --what-if=x test"},
	"npm test":    {"npm test src/a.test.ts", "npm test -v", "npm test --usage", "npm --script-shell=/bin/true test", "npm --userconfig=/tmp/x test", "npm test -- -v", "npm test -- --showConfig", "npm test -- --exclude x", "set -n; npm test", "set -o noexec; npm test", "bash -n -c 'npm test'", "shopt -s extdebug; trap false DEBUG; npm test", "npm config set script-shell /bin/true; npm test", "npm set script-shell=x && npm test", "npm test -- src/a.test.ts", "npm test -- -t login", "echo '{}' > package.json; npm test", "set -e; echo '{}' > package.json; npm test; ls"},
	"bun test":    {"bun test src/a.test.ts", "bun test -t login"},
	"jest":        {"printf 'exit 0' > node_modules/.bin/jest; node_modules/.bin/jest", "npx jest@29 src/a.test.ts"},
	"dotnet test": {"dotnet test --filter x"},
	"phpunit":     {"phpunit --group a", "phpunit tests/A.php"},
}

func TestPartsAreNoEvidence(t *testing.T) {
	for words, scripts := range partial {
		for _, script := range scripts {
			if surely(shell.Read(script), pattern(t, words)) {
				t.Errorf("runs %s: %q is evidence", words, script)
			}
		}
	}
	for words, scripts := range map[string][]string{
		"yarn test":     {"yarn test", "yarn test --silent", "yarn test --reporters default"},
		"go test ./...": {"go test -coverprofile=c.out ./...", "go test -coverprofile c.out ./..."},
		"pytest":        {"pytest -q", "cat > test_x.py <<'E'\nE\npytest -q", "PYTEST_ADDOPTS=--color=yes pytest", "pytest -q -x -n4 --tb=short"},
		"npm test":      {"npm config set registry x; npm test", "npm test -- --coverage", "npm test -- --reporter dot", "npm test -- --watch=false"},
		"jest":          {"npx jest@29", "npx --yes jest --ci"},
	} {
		for _, script := range scripts {
			if !surely(shell.Read(script), pattern(t, words)) {
				t.Errorf("runs %s: %q is no evidence", words, script)
			}
		}
	}
}

func TestDryRunsAreNoEvidence(t *testing.T) {
	for words, scripts := range dryRuns {
		p := pattern(t, words)
		for _, script := range scripts {
			if surely(shell.Read(script), p) {
				t.Errorf("runs %s: %q is evidence", words, script)
			}
		}
	}
}

func TestWorkIsEvidence(t *testing.T) {
	for words, scripts := range map[string][]string{
		"make test":   {"make test", "make -j8 test", "make -sk test"},
		"go test":     {"go test", "go test ./...", "go test -v -race -count=1 -timeout 10m ./..."},
		"cargo test":  {"cargo test", "cargo test --workspace -q"},
		"pytest":      {"pytest", "pytest -q", "pytest -x tests"},
		"npm test":    {"npm test", "npm test --silent"},
		"rsync":       {"rsync -a src/ host:dst/"},
		"cp":          {"cp a b", "cp -av a b"},
		"tar czf":     {"tar czf b.tgz src"},
		"mvn test":    {"mvn test", "mvn -q test"},
		"git push":    {"git push", "git push -u origin main"},
		"pg_dump":     {"pg_dump -Fc -f b.dump db"},
		"mytool lint": {"mytool lint"},
	} {
		p := pattern(t, words)
		for _, script := range scripts {
			if !surely(shell.Read(script), p) {
				t.Errorf("runs %s: %q is no evidence", words, script)
			}
		}
	}
}

// TestTablesOfPrograms checks that no entry has an option twice, and that an option which implies
// others has them in its entry.
func TestTablesOfPrograms(t *testing.T) {
	for _, problem := range shell.TableProblems() {
		t.Error(strings.TrimSpace(problem))
	}
}
