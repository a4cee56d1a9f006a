namespace Ambrosia.Coordinator.AppSessions;

/// <summary>Says how far a session of the app has come. It only goes forward.</summary>
internal enum AppStage { AwaitHello, AwaitMethods, Replaying, BecomingPrimary, Primary, Ended }

/// <summary>Names the stages for operators.</summary>
internal static class AppStages
{
    /// <summary>Returns greeting, replaying, becoming primary, primary, or ended.</summary>
    public static string NameOf(AppStage stage) => stage switch
    {
        AppStage.AwaitHello or AppStage.AwaitMethods => "greeting",
        AppStage.Replaying => "replaying",
        AppStage.BecomingPrimary => "becoming primary",
        AppStage.Primary => "primary",
        _ => "ended"
    };
}
