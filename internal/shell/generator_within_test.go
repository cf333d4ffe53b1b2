package shell_test

import "strings"

// places are the contexts that bash and a parser may read differently.
var places = []string{
	"echo %", `echo "%"`, "echo ${x:-%}", `echo "${x:-%}"`, `x=1; echo "${x:+%}"`, `echo "${x:=%}"`, `x=a; echo "${x#%}"`, "x=a; echo ${x#%}",
	"echo `echo %`", "echo \"`echo %`\"", `echo "$(echo %)"`, "[[ % ]]", "[[ a == % ]]", "[[ a =~ % ]]", "case % in *) ;; esac", "case a in %) ;; esac",
	"a=(%)", "x=%", "cat <<E\n%\nE", "cat <<'E'\n%\nE", "cat <<E\n${x:-%}\nE", "cat <<E\n`echo %`\nE", `cat <<< "%"`, "echo $((%))", `echo "$((${x:-%}))"`,
	"echo ${a[%]}", "a[%]=1", "eval 'echo %'", `eval "echo %"`, "bash -c 'echo %'", "trap 'echo %' EXIT", "declare x=%", `declare -a "x=%"`, "for i in %; do :; done",
	"f() { echo %; }; f", "echo @(%)", "bash <<'E'\necho %\nE", "bash <<E\necho %\nE", "bash <<< 'echo %'", "echo $'%'", `echo $"%"`, "echo a%b", "ls <<E %\nE",
}

// texts are inserted into places. Most of them run rm in one of the readings.
var texts = []string{
	"$(rm x)", "`rm x`", "<(rm x)", ">(rm x)", "'$(rm x)'", "'`rm x`'", `"'$(rm x)'"`, `\$(rm x)`, `\\$(rm x)`, "\\`rm x\\`", "$'$(rm x)'", `$'\'$(rm x)'`,
	`"$"(rm x)`, `"$""(rm x)"`, `$""(rm x)`, "$\\\n(rm x)", "<\\\n(rm x)", "${z:-'$(rm x)'}", `${z-'}'$(rm x)'}'}`, `${z-\}$(rm x)}`, `${z:-<(rm x)}`, `${z:-"$"(rm x)}`,
	"a;rm x", "a';'rm x", "a #'\n;rm x", "a\nrm x", "a\\\nrm x", "a) rm x;; b", "a]] && rm x && [[ a", "a}; rm x; echo ${a", "E\nrm x\nE", "E\\\n\nrm x\nE", "\\\nE\nrm x\nE",
	`a" ; rm x; "`, "a' ; rm x; '", "a` ; rm x; `", `a\' ; rm x; '`, "@(a|$(rm x))", "(rm x)", "b[$(rm x)]", "($(rm x))",
}

// within inserts a text into a place.
func (g *generator) within() string {
	return strings.ReplaceAll(g.pick(places...), "%", g.pick(texts...)) + g.pick("", "\n", "; x")
}
