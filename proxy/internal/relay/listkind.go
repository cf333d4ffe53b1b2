package relay

// A listKind is a kind of list other than tools/list.
type listKind struct {
	method     string
	capability string
	member     string // result member that contains the items
	key        string // item member that identifies it
}

var (
	PromptList   = listKind{"prompts/list", "prompts", "prompts", "name"}
	ResourceList = listKind{"resources/list", "resources", "resources", "uri"}
	TemplateList = listKind{"resources/templates/list", "resources", "resourceTemplates", "uriTemplate"}
)
