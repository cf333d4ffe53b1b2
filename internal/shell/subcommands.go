package shell

import (
	"slices"
	"strings"
)

// subcommands maps each program with subcommands to the options that can precede a subcommand, in
// the form described at [program]. An option that is not listed is treated as one that might take a
// value.
var subcommands = eachName(map[string]func() *optionTable{
	"git":                           lazyOptions(gitLead),
	"docker,podman,nerdctl":         lazyOptions("H|host= c|context= l|log-level= config= D|debug tls tlscacert= tlscert= tlskey= tlsverify url= connection= root= remote"),
	"docker-compose,podman-compose": lazyOptions(composeLead),
	"kubectl,oc":                    lazyOptions("n|namespace= context= cluster= kubeconfig= s|server= user= token= v= as= as-group= request-timeout= l|selector= o|output= A|all-namespaces insecure-skip-tls-verify~ certificate-authority= client-key= client-certificate= cache-dir= password= username= tls-server-name= match-server-version~ warnings-as-errors~"),
	"npm":                           lazyOptions(npmLead + " w|workspace= workspaces ws"),
	"pnpm":                          lazyOptions(npmLead + " r|recursive F|filter= filter-prod= C|dir= w|workspace-root stream parallel aggregate-output no-bail bail reporter= workspace-concurrency= sort no-sort reverse if-present"),
	"yarn":                          lazyOptions("cwd= s|silent offline frozen-lockfile json verbose non-interactive immutable"),
	"bun":                           lazyOptions("cwd= silent b|bun"),
	"cargo":                         lazyOptions("v|verbose q|quiet color= config= Z= locked offline frozen C= list explain="),
	"go":                            lazyOptions("C="),
	"gh,glab":                       lazyOptions("R|repo="),
	"terraform,tofu":                lazyOptions("-chdir="),
	"terragrunt":                    lazyOptions("terragrunt-working-dir= working-dir="),
	"pulumi":                        lazyOptions("s|stack= C|cwd= v= color= e|emoji non-interactive logtostderr"),
	"aws":                           lazyOptions("profile= region= output= endpoint-url= query= debug no-verify-ssl no-paginate no-sign-request ca-bundle= cli-read-timeout= cli-connect-timeout= color= no-cli-pager version"),
	"gcloud":                        lazyOptions("project= account= region= zone= configuration= format= q|quiet verbosity= impersonate-service-account="),
	"az":                            lazyOptions("subscription= o|output= query= debug verbose only-show-errors"),
	"helm":                          lazyOptions("n|namespace= kube-context= kubeconfig= debug registry-config= repository-cache= repository-config= kube-apiserver= kube-token="),
	"hg":                            lazyOptions("R|repository= cwd= q|quiet v|verbose y|noninteractive config= debug"),
	"svn":                           lazyOptions("q|quiet v|verbose username= password= non-interactive"),
	"pip,pip3":                      lazyOptions("v|verbose q|quiet proxy= timeout= python= cache-dir= no-input isolated disable-pip-version-check no-color log= retries= require-virtualenv"),
	"uv":                            lazyOptions("q|quiet v|verbose directory= project= offline no-cache n config-file= no-config color= no-progress python-preference= cache-dir="),
	"poetry":                        lazyOptions("C|directory= P|project= q|quiet v n|no-interaction no-ansi ansi no-plugins no-cache"),
	"brew":                          lazyOptions("v|verbose q|quiet d|debug"),
	"apt,apt-get":                   lazyOptions("y|yes|assume-yes q|quiet o= t|target-release= c|config-file= no-install-recommends f"),
	"systemctl":                     lazyOptions("user system no-pager q|quiet H|host= M|machine= f|force t|type= state= n|lines= o|output= a|all l|full no-block now root= p|property="),
	"heroku":                        lazyOptions("a|app= r|remote="),
	"fly,flyctl":                    lazyOptions("a|app= c|config= t|access-token="),
	"vagrant,gem,bundle,rails,dotnet,mise,rbenv,pyenv,nvm,asdf,conda,nx,turbo,rush,changeset,zfs,zpool,lvm,nmcli,ufw,launchctl": lazyOptions(""),
	"composer":                          lazyOptions("d|working-dir= n|no-interaction q|quiet v no-plugins no-scripts no-cache ansi no-ansi"),
	"vercel,netlify,wrangler,firebase":  lazyOptions("token= cwd= t= S= c|config= e|env= project= P= json non-interactive debug"),
	"lerna":                             lazyOptions("loglevel= concurrency= reject-cycles progress no-progress sort no-sort no-prefix since= max-buffer= ci no-ci"),
	"hatch":                             lazyOptions("e|env= p|project= v|verbose q|quiet color no-color interactive no-interactive data-dir= cache-dir= config="),
	"flit":                              lazyOptions("f|ini-file= debug"),
	"twine":                             lazyOptions("no-color"),
	"deno":                              lazyOptions("q|quiet L|log-level="),
	"flyway,liquibase,alembic,supabase": lazyOptions("c|config= n|name= x= workdir= project-ref="),
	"kustomize,argocd,flux,skaffold,eb": lazyOptions("n|namespace= context= kubeconfig= server= profile="),
	"adb":                               lazyOptions("s= d e H= P= t="),
	"gsutil":                            lazyOptions("m q D o= u= h="),
	"rclone,bq":                         lazyOptions("config= v q project_id= location= format="),
	"minikube,kind,multipass":           lazyOptions("p|profile="),
})

const (
	gitLead     = "v version h help p paginate P no-pager bare no-optional-locks literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-replace-objects no-lazy-fetch no-advice exec-path~ html-path man-path info-path c= C= git-dir= work-tree= namespace= config-env= super-prefix= attr-source= list-cmds="
	composeLead = "f|file= p|project-name= profile= env-file= project-directory= ansi= progress= parallel= compatibility dry-run all-resources"
	npmLead     = "prefix= C= s|silent q|quiet d dd ddd g|global loglevel= userconfig= globalconfig= cache= registry= y|yes no-audit no-fund no-progress offline prefer-offline json tag= otp= access= location= ignore-scripts legacy-peer-deps f|force include= omit="
)

// groups holds the subcommands that have subcommands of their own. Its keys have the form "program
// subcommand".
var groups = eachGroup(map[string]string{
	"git":                   "stash remote worktree submodule bisect notes reflog lfs flow svn bundle sparse-checkout maintenance subtree",
	"docker,podman,nerdctl": "system container image volume network builder buildx context compose swarm service stack secret config node plugin manifest trust",
	"kubectl,oc":            "rollout config auth set certificate top",
	"gh":                    "pr issue repo release run workflow auth secret variable gist api cache label project ruleset ssh-key gpg-key codespace extension alias config org",
	"glab":                  "mr issue repo release ci auth variable",
	"aws":                   "s3 s3api ec2 iam lambda rds ecs eks ecr sts cloudformation dynamodb sns sqs ssm secretsmanager logs route53",
	"npm":                   "run run-script config dist-tag owner token profile team access cache org",
	"pnpm,yarn,bun":         "run config cache workspace",
	"cargo":                 "nextest",
	"go":                    "mod work tool env",
	"terraform,tofu":        "state workspace providers",
	"helm":                  "repo plugin dependency registry get show",
	"pulumi":                "stack config state",
	"pip,pip3":              "cache config index",
	"uv":                    "pip tool python run cache",
})

// eachGroup builds the table [groups]. Each key of rows is a list of programs. Its value lists the
// subcommands that have subcommands of their own, such as remote in git remote add. In the result,
// the value of each entry is a function. It returns the options that can precede the second
// subcommand, here add.
func eachGroup(rows map[string]string) map[string]func() *optionTable {
	table := make(map[string]func() *optionTable)
	for names, subs := range rows {
		for name := range strings.SplitSeq(names, ",") {
			for sub := range strings.FieldsSeq(subs) {
				options := subcommands[name]
				if sub == "compose" {
					options = lazyOptions(composeLead)
				}
				table[name+" "+sub] = options
			}
		}
	}
	return table
}

// subcommandsOf returns the options that can precede a program's subcommands, or nil if the program
// has no subcommands.
func subcommandsOf(name string) *optionTable {
	if t := subcommands[name]; t != nil {
		return t()
	}
	return nil
}

// next returns the first operand in args, and the arguments after it. sub is nil if args contain no
// operand. sure is false if the operand may instead be the value of an unknown option before it.
func (k *optionTable) next(args []arg) (sub *arg, rest []arg, sure bool) {
	sure = true
	for len(args) > 0 {
		a := &args[0]
		switch {
		case a.kind == literal && (a.text == "--" || strings.HasPrefix(a.text, "+")): // skip a toolchain, as in cargo +nightly test
			args = args[1:]
			continue
		case len(a.text) > 1 && a.text[0] == '-': // an option, even if only its start is known
		default:
			return a, args[1:], sure
		}
		found, n := k.parseOption(args)
		known := n > 0 && !slices.ContainsFunc(found, func(o givenOption) bool { return o.known == nil })
		sure = sure && (known || strings.Contains(a.text, "="))
		args = args[max(n, 1):]
	}
	return nil, nil, sure
}

// beside returns args without the non-literal options that precede the subcommand, such as -C
// "$dir" in git -C "$dir" push. beside removes these options because they would make a match
// uncertain. It keeps options that are not in the table, and options that the pattern contains.
func (k *optionTable) beside(args []arg, options []wanted) []arg {
	sub, rest, _ := k.next(args)
	end := len(args) - len(rest)
	if sub != nil {
		end--
	}
	if allLiteral(args[:end]) {
		return args
	}
	var kept []arg
	for lead := args[:end]; len(lead) > 0; {
		found, n := k.parseOption(lead)
		n = max(n, 1)
		known := len(found) > 0 && !slices.ContainsFunc(found, func(o givenOption) bool {
			return o.isUnknown() || slices.ContainsFunc(options, func(w wanted) bool { return slices.Contains(w.names, o.name) })
		})
		if !known || allLiteral(lead[:n]) {
			kept = append(kept, lead[:n]...)
		}
		lead = lead[n:]
	}
	return append(kept, args[end:]...)
}

// gitOptions returns git's options before the subcommand.
var gitOptions = lazyOptions("v version h help p paginate P no-pager bare no-optional-locks literal-pathspecs exec-path c= C= git-dir= work-tree= namespace=")
