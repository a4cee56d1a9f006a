namespace HelloWorld.Orchestration;

/// <summary>One of the four processes.</summary>
/// <param name="Id">0: it is not there at the moment.</param>
internal sealed record ProcessFigures(string Name, int Id, int Kills);
