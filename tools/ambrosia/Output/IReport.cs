namespace Ambrosia.Tools;

/// <summary>
/// What a command has found. With --json it is serialised as it is, so its public properties are its schema (docs/tools.md); for people it
/// draws itself.
/// </summary>
internal interface IReport
{
    void Draw(Screen screen);
}
