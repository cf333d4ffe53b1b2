package shell

import (
	"slices"
	"strings"
	"sync"
)

// A leadTable returns the options that may precede a subcommand, in the notation of [program]. It
// parses them on first use. An option that is missing from the table may take a value.
type leadTable func() *leadOptions

// leadOptions are the options that may precede a subcommand.
type leadOptions struct{ known *knownOptions }

func newLeadTable(options string) leadTable {
	return sync.OnceValue(func() *leadOptions {
		k := parseOptions(options)
		k.exact = true
		return &leadOptions{k}
	})
}

// subcommands is the table of programs with subcommands.
var subcommands = eachName(map[string]leadTable{
	"git":                               newLeadTable(gitLead),
	"docker,podman,nerdctl":             newLeadTable("H|host= c|context= l|log-level= config= D|debug tls tlscacert= tlscert= tlskey= tlsverify url= connection= root= remote"),
	"docker-compose,podman-compose":     newLeadTable(composeLead),
	"kubectl,oc":                        newLeadTable("n|namespace= context= cluster= kubeconfig= s|server= user= token= v= as= as-group= request-timeout= l|selector= o|output= A|all-namespaces insecure-skip-tls-verify~ certificate-authority= client-key= client-certificate= cache-dir= password= username= tls-server-name= match-server-version~ warnings-as-errors~"),
	"npm":                               newLeadTable(npmLead + " w|workspace= workspaces ws"),
	"pnpm":                              newLeadTable(npmLead + " r|recursive F|filter= filter-prod= C|dir= w|workspace-root stream parallel aggregate-output no-bail bail reporter= workspace-concurrency= sort no-sort reverse if-present"),
	"yarn":                              newLeadTable("cwd= s|silent offline frozen-lockfile json verbose non-interactive immutable"),
	"bun":                               newLeadTable("cwd= silent b|bun"),
	"cargo":                             newLeadTable("v|verbose q|quiet color= config= Z= locked offline frozen C= list explain="),
	"go":                                newLeadTable("C="),
	"gh":                                newLeadTable("R|repo="),
	"glab":                              newLeadTable("R|repo="),
	"terraform,tofu":                    newLeadTable("-chdir="),
	"terragrunt":                        newLeadTable("terragrunt-working-dir= working-dir="),
	"pulumi":                            newLeadTable("s|stack= C|cwd= v= color= e|emoji non-interactive logtostderr"),
	"aws":                               newLeadTable("profile= region= output= endpoint-url= query= debug no-verify-ssl no-paginate no-sign-request ca-bundle= cli-read-timeout= cli-connect-timeout= color= no-cli-pager version"),
	"gcloud":                            newLeadTable("project= account= region= zone= configuration= format= q|quiet verbosity= impersonate-service-account="),
	"az":                                newLeadTable("subscription= o|output= query= debug verbose only-show-errors"),
	"helm":                              newLeadTable("n|namespace= kube-context= kubeconfig= debug registry-config= repository-cache= repository-config= kube-apiserver= kube-token="),
	"hg":                                newLeadTable("R|repository= cwd= q|quiet v|verbose y|noninteractive config= debug"),
	"svn":                               newLeadTable("q|quiet v|verbose username= password= non-interactive"),
	"pip,pip3":                          newLeadTable("v|verbose q|quiet proxy= timeout= python= cache-dir= no-input isolated disable-pip-version-check no-color log= retries= require-virtualenv"),
	"uv":                                newLeadTable("q|quiet v|verbose directory= project= offline no-cache n config-file= no-config color= no-progress python-preference= cache-dir="),
	"poetry":                            newLeadTable("C|directory= P|project= q|quiet v n|no-interaction no-ansi ansi no-plugins no-cache"),
	"brew":                              newLeadTable("v|verbose q|quiet d|debug"),
	"apt,apt-get":                       newLeadTable("y|yes|assume-yes q|quiet o= t|target-release= c|config-file= no-install-recommends f"),
	"systemctl":                         newLeadTable("user system no-pager q|quiet H|host= M|machine= f|force t|type= state= n|lines= o|output= a|all l|full no-block now root= p|property="),
	"heroku":                            newLeadTable("a|app= r|remote="),
	"fly,flyctl":                        newLeadTable("a|app= c|config= t|access-token="),
	"vagrant,gem,bundle,rails,dotnet":   newLeadTable(""),
	"composer":                          newLeadTable("d|working-dir= n|no-interaction q|quiet v no-plugins no-scripts no-cache ansi no-ansi"),
	"mise,rbenv,pyenv,nvm,asdf,conda":   newLeadTable(""),
	"vercel,netlify,wrangler,firebase":  newLeadTable("token= cwd= t= S= c|config= e|env= project= P= json non-interactive debug"),
	"nx,turbo,rush,changeset":           newLeadTable(""),
	"lerna":                             newLeadTable("loglevel= concurrency= reject-cycles progress no-progress sort no-sort no-prefix since= max-buffer= ci no-ci"),
	"hatch":                             newLeadTable("e|env= p|project= v|verbose q|quiet color no-color interactive no-interactive data-dir= cache-dir= config="),
	"flit":                              newLeadTable("f|ini-file= debug"),
	"twine":                             newLeadTable("no-color"),
	"deno":                              newLeadTable("q|quiet L|log-level="),
	"flyway,liquibase,alembic,supabase": newLeadTable("c|config= n|name= x= workdir= project-ref="),
	"kustomize,argocd,flux,skaffold,eb": newLeadTable("n|namespace= context= kubeconfig= server= profile="),
	"zfs,zpool,lvm,nmcli,ufw,launchctl": newLeadTable(""),
	"adb":                               newLeadTable("s= d e H= P= t="),
	"gsutil":                            newLeadTable("m q D o= u= h="),
	"rclone,bq":                         newLeadTable("config= v q project_id= location= format="),
	"minikube,kind,multipass":           newLeadTable("p|profile="),
})

const (
	gitLead     = "v version h help p paginate P no-pager bare no-optional-locks literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-replace-objects no-lazy-fetch no-advice exec-path~ html-path man-path info-path c= C= git-dir= work-tree= namespace= config-env= super-prefix= attr-source= list-cmds="
	composeLead = "f|file= p|project-name= profile= env-file= project-directory= ansi= progress= parallel= compatibility dry-run all-resources"
	npmLead     = "prefix= C= s|silent q|quiet d dd ddd g|global loglevel= userconfig= globalconfig= cache= registry= y|yes no-audit no-fund no-progress offline prefer-offline json tag= otp= access= location= ignore-scripts legacy-peer-deps f|force include= omit="
)

// groups are the subcommands that have subcommands themselves.
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

// eachGroup expands the table of groups to one entry per program and group, with the options that
// may precede the subcommands of the group.
func eachGroup(rows map[string]string) map[string]leadTable {
	table := make(map[string]leadTable)
	for names, subs := range rows {
		for name := range strings.SplitSeq(names, ",") {
			for sub := range strings.FieldsSeq(subs) {
				options := subcommands[name]
				if sub == "compose" {
					options = newLeadTable(composeLead)
				}
				table[name+" "+sub] = options
			}
		}
	}
	return table
}

// subcommandsOf returns the options before the subcommands of a program, or nil if the program has
// no subcommands.
func subcommandsOf(name string) *leadOptions {
	if t := subcommands[name]; t != nil {
		return t()
	}
	return nil
}

// next returns the first operand, or nil, and the arguments after it. sure is false if an unknown
// option before the operand may take it as its value.
func (l *leadOptions) next(args []arg) (sub *arg, rest []arg, sure bool) {
	sure = true
	for len(args) > 0 {
		a := &args[0]
		switch {
		case a.kind == literal && (a.text == "--" || strings.HasPrefix(a.text, "+")): // as in cargo +nightly test
			args = args[1:]
			continue
		case len(a.text) > 1 && a.text[0] == '-': // this includes options whose value is not literal
		default:
			return a, args[1:], sure
		}
		found, n := l.known.option(args)
		unknown := n == 0
		for _, o := range found {
			unknown = unknown || o.known == nil
		}
		if unknown && !strings.Contains(a.text, "=") {
			sure = false
		}
		args = args[max(n, 1):]
	}
	return nil, nil, sure
}

// beside returns args without the options before the subcommand whose value is not literal, except
// for options of the pattern.
func (l *leadOptions) beside(args []arg, options []wanted) []arg {
	sub, rest, _ := l.next(args)
	end := len(args) - len(rest) - toInt(sub != nil)
	if !slices.ContainsFunc(args[:end], func(a arg) bool { return a.kind != literal }) {
		return args
	}
	var kept []arg
	for lead := args[:end]; len(lead) > 0; {
		found, n := l.known.option(lead)
		n = max(n, 1)
		known := len(found) > 0 && !slices.ContainsFunc(found, func(o givenOption) bool {
			return o.isUnknown() || slices.ContainsFunc(options, func(w wanted) bool { return slices.Contains(w.names, o.name) })
		})
		if !known || !slices.ContainsFunc(lead[:n], func(a arg) bool { return a.kind != literal }) {
			kept = append(kept, lead[:n]...)
		}
		lead = lead[n:]
	}
	return append(kept, args[end:]...)
}

// gitOptions are the options before the subcommand of git.
var gitOptions = leading("v version h help p paginate P no-pager bare no-optional-locks literal-pathspecs exec-path c= C= git-dir= work-tree= namespace=")
