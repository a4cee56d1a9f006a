namespace HelloWorld.Orchestration;

/// <summary>Where a run is shown while it runs.</summary>
internal interface IScreen
{
    /// <summary>Runs <paramref name="body"/>, which calls what it is given whenever there is something new to show.</summary>
    void During(Action<Action<Figures>> body);
}
