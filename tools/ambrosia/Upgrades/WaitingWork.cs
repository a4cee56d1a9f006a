using Ambrosia.Images.Nodes;

namespace Ambrosia.Tools.Upgrades;

/// <summary>Finds periodic timers and tasks that wait in a state, and whose methods a new build lacks.</summary>
internal static class WaitingWork
{
    private const string Recurrence = "Ambrosia.Recurrence", MethodTask = "Ambrosia.MethodTask<";

    /// <param name="session">What the session needs to go on.</param>
    /// <param name="immortal">The class that goes on.</param>
    public static IEnumerable<UpgradeFinding> Missing(ImageNode session, BuildTypes build, Type immortal)
    {
        foreach (string method in MethodsOf(session, "Timers", Recurrence))
            if (!BuildTypes.HasTimerMethod(immortal, method))
                yield return new UpgradeFinding(UpgradeVerdict.Refused, $"{immortal.FullName}.{method}",
                    "a periodic timer calls it, and the new build has no such method without parameters",
                    "keep the method, or stop the timer with the old build first");
        foreach (string method in MethodsOf(session, "Tasks", MethodTask))
            if (!build.HasTaskMethod(method))
                yield return new UpgradeFinding(UpgradeVerdict.Refused, method,
                    "a task that waits for its result runs it, and the new build has no static method of that name",
                    "keep the method, or let the task finish with the old build first");
    }

    /// <summary>Returns the names of the methods that objects of one class keep, of those that are not stopped.</summary>
    private static IEnumerable<string> MethodsOf(ImageNode session, string part, string className) =>
        session.Members().Where(each => each.Step.Text == part).SelectMany(static each => each.Node.Members())
            .Select(static each => each.Node)
            .Where(each => each.TypeName.StartsWith(className, StringComparison.Ordinal) && Field(each, "_isStopped") is not { Text: "true" })
            .Select(static each => Field(each, "_method")?.Text.Trim('"')).OfType<string>();

    private static ImageNode? Field(ImageNode of, string name) =>
        of.Members().Where(each => each.Step.Text == name).Select(static each => each.Node).FirstOrDefault();
}
