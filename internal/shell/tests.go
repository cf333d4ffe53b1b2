package shell

import (
	"slices"
	"strings"
)

// evidenceOperands lists the operands that a build or test command may have in addition to the
// operands in the pattern. A command with any other operand does not meet a requirement, because
// the operand may select only a part of the build or of the tests. An entry here takes precedence
// over the entry in [programs].
var evidenceOperands = eachName(map[string]operands{
	"make,gmake,just,task,rake,mvn,gradle,gradlew": {max: unbounded, not: "="},
	"npm test,npm run,pnpm test,pnpm run,yarn test,yarn run,npm run-script,cargo test,cargo nextest,bun test,deno test,vitest run,phpunit,git commit": {},
	"go test":                       {max: unbounded, is: setOf("./... ... all .")},
	"go vet,go build,docker build":  {max: unbounded},
	"pytest":                        {max: unbounded, not: ":=", notEnd: ".py"},
	"vitest,jest,mocha":             {max: unbounded, is: setOf("run")},
	"tsc,eslint,ruff check,mypy":    {max: unbounded, notBegin: "@"},
	"dotnet test,bundle exec rspec": {max: 1},
	"rspec":                         {max: unbounded, not: ":[", notEnd: ".rb"},
	"rails test,rails spec":         {max: unbounded, not: ":", notEnd: ".rb"},
})

// forwardsAfterDash lists the programs that pass on arguments after -- to the program they run.
var forwardsAfterDash = setOf("npm pnpm yarn bun cargo npx")

// forwardsAll lists the programs that pass on arguments even without --.
var forwardsAll = setOf("yarn pnpm bun")

// partialOptions lists the options that make test programs run only some tests, or none.
var partialOptions = setOf(`--list --listTests --help -h --version -V -t --testNamePattern --testPathPattern --testPathPatterns --grep -g --fgrep --changed --onlyChanged -o --only
	--skip --ignored --exact --include-ignored --passWithNoTests --collect-only --co -k -m --deselect --ignore --lf --last-failed --shard --no-run --related
	--findRelatedTests --update -u --updateSnapshot --setup-plan --setup-only --fixtures --filter --group --testsuite --tests --example -e --tag --only-failures
	--test-name-pattern --name -n --dry-run --showConfig --clearCache --init --exclude --testPathIgnorePatterns --project --selectProjects
	--ignoreProjects --dir --root --rootDir --roots`)

// otherEffectOptions lists the options that make test programs print something instead of testing,
// or use another shell or configuration.
var otherEffectOptions = eachName(map[string]string{
	"npm":         "-v -H -h -? --usage --version --versions --script-shell --node-options --userconfig --globalconfig",
	"pnpm,yarn":   "-v -h --script-shell",
	"jest,vitest": "-v -h",
	"pytest":      "-V -h --override-ini --config-file",
})

// sameTestOptions lists the options that make test programs write files without changing which
// tests run.
var sameTestOptions = map[string]set{"go": setOf("-coverprofile -coverpkg -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir -benchmem -mod")}

// scriptSettings lists the settings that change how, or whether, npm, pnpm and yarn run project
// scripts.
var scriptSettings = setOf("script-shell shell node-options if-present dry-run workspace workspaces prefix usage version versions ignore-scripts")

// setsScripts reports whether npm, pnpm or yarn, called with args, may change any setting in
// [scriptSettings]. For any other program, it returns false.
func setsScripts(program string, args []arg) bool {
	if program != "npm" && program != "pnpm" && program != "yarn" || !slices.ContainsFunc(args[:min(2, len(args))], func(a arg) bool { return a.matchWord("=set =config =c") != "" }) {
		return false
	}
	return slices.ContainsFunc(args, func(a arg) bool { return a.kind != literal || scriptSettings[name(a.text)] })
}

// passed looks for an argument that may make a test program run only some of its tests, or none.
// args are the arguments that the named program, such as npm, passes to the test program. If passed
// finds no such argument, it returns "" and false. An operand after an option without = may be the
// option's value. passed ignores such operands, except for cargo.
func passed(name string, args []arg) (argument string, less bool) {
	value := false
	for _, a := range args {
		if a.kind != literal {
			return "an argument that is not literal", true
		}
		option, _, with := strings.Cut(a.text, "=")
		switch {
		case a.text == "--":
		case partialOptions[option], option == "-v" && name != "cargo": // jest -v prints the version
			return a.text, true
		case strings.HasPrefix(a.text, "-"):
			value = !with
			continue
		case !value || name == "cargo":
			return a.text, true
		}
		value = false
	}
	return "", false
}
