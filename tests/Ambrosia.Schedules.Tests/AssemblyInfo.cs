using System.Runtime.CompilerServices;

// The copies of these call what is planted in them.
[assembly: InternalsVisibleTo("Ambrosia.Log")]
[assembly: InternalsVisibleTo("Ambrosia.Coordinator")]
[assembly: InternalsVisibleTo("Ambrosia.AppChannel")]
[assembly: InternalsVisibleTo("CRA")]
[assembly: InternalsVisibleTo("Ambrosia")]
