$version: "2"
namespace example

union Self { self: Self }

union Tree { branch: Branch, twig: Twig }
structure Branch { @required tree: Tree }
union Twig { tree: Tree }

union Fine { leaf: String, branch: FineBranch }
structure FineBranch { @required tree: Fine }
union AlsoFine { list: AlsoFineList }
list AlsoFineList { member: AlsoFine }
